/**
 * The one socket that is the connection now. Whatever an earlier one still says is nobody's; `gone` waits for all of
 * them. It decides nothing: when there is to be one, the machine says.
 */
import type { Socket, SocketHandlers } from './ports.ts';

export class CurrentSocket {
  readonly #connect: (handlers: SocketHandlers) => Socket;
  /** Those of which something is left. */
  readonly #sockets = new Set<Socket>();
  #current: Socket | undefined;

  constructor(connect: (handlers: SocketHandlers) => Socket) {
    this.#connect = connect;
  }

  /** Undefined where there is none. */
  get current(): Socket | undefined {
    return this.#current;
  }

  /** In the place of the one there was, which the caller has let go of. */
  open({ opened, message, pong, lost }: SocketHandlers): void {
    const asCurrent = (act: () => void): void => {
      if (this.#current === socket) act();
    };
    const socket: Socket = this.#connect({
      opened: () => { asCurrent(opened); },
      message: (text) => { asCurrent(() => { message(text); }); },
      pong: () => { asCurrent(pong); },
      lost: (reason) => {
        asCurrent(() => {
          this.#current = undefined;
          lost(reason);
        });
      },
    });
    this.#current = socket;
    this.#sockets.add(socket);
    void socket.gone.then(() => this.#sockets.delete(socket));
  }

  /** Lets go of it: from here on it is nobody's, and whoever has it ends it. */
  take(): Socket | undefined {
    const socket = this.#current;
    this.#current = undefined;
    return socket;
  }

  async gone(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => socket.gone));
  }
}
