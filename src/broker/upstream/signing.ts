/**
 * The AUTH event for a relay's challenge, from whoever holds the key, which may take its time: an answer that comes when
 * the socket or the challenge is another one is for nothing.
 */
import type { VerifiedEvent } from '../../nostr/index.ts';
import type { Socket } from './ports.ts';

export interface SigningOptions {
  readonly sign: (challenge: string) => VerifiedEvent | Promise<VerifiedEvent>;
  readonly socketNow: () => Socket | undefined;
  readonly onSigned: (event: VerifiedEvent) => void;
  readonly onUnsigned: (error: unknown) => void;
}

export class Signing {
  readonly #options: SigningOptions;
  #latest = 0;

  constructor(options: SigningOptions) {
    this.#options = options;
  }

  begin(challenge: string): void {
    const { sign, socketNow, onSigned, onUnsigned } = this.#options;
    const socket = socketNow();
    this.#latest += 1;
    const mine = this.#latest;
    const current = (act: () => void): void => {
      if (socketNow() === socket && this.#latest === mine) act();
    };
    try {
      const signed = sign(challenge);
      if (!(signed instanceof Promise)) onSigned(signed);
      else signed.then((event) => { current(() => { onSigned(event); }); }, (error: unknown) => { current(() => { onUnsigned(error); }); });
    } catch (error) {
      onUnsigned(error);
    }
  }
}
