/**
 * The one socket that is the connection now. Whatever an earlier one still says is nobody's; `gone` waits for all of
 * them. It decides nothing: when there is to be one, the machine says.
 */
import type { Socket, SocketHandlers } from './ports.ts';

export class CurrentSocket {
  readonly #connect: (handlers: SocketHandlers) => Socket;
  /** Those of which something is left. */
  readonly #sockets = new Set<Socket>();
  #now: Socket | undefined;

  constructor(connect: (handlers: SocketHandlers) => Socket) {
    this.#connect = connect;
  }

  /** Undefined where there is none. */
  get now(): Socket | undefined {
    return this.#now;
  }

  /** In the place of the one there was, which the caller has let go of. */
  open({ opened, message, pong, lost }: SocketHandlers): void {
    const current = (act: () => void): void => {
      if (this.#now === socket) act();
    };
    const socket: Socket = this.#connect({
      opened: () => { current(opened); },
      message: (text) => { current(() => { message(text); }); },
      pong: () => { current(pong); },
      lost: (reason) => {
        current(() => {
          this.#now = undefined;
          lost(reason);
        });
      },
    });
    this.#now = socket;
    this.#sockets.add(socket);
    void socket.gone.then(() => this.#sockets.delete(socket));
  }

  /** Lets go of it: from here on it is nobody's, and whoever has it ends it. */
  take(): Socket | undefined {
    const socket = this.#now;
    this.#now = undefined;
    return socket;
  }

  async gone(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => socket.gone));
  }
}
