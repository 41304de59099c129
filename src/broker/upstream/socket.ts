/** A real WebSocket behind the `Socket` port: no compression (it costs more than it saves here), bounded messages. */
import { WebSocket } from 'ws';
import type { Clock } from '../../model/index.ts';
import { later } from '../../model/index.ts';
import { CLOSE_GRACE_MS, CONNECT_TIMEOUT_MS, MAX_MESSAGE_BYTES, MAX_PAYLOAD_BYTES } from './limits.ts';
import type { Connect, Socket, SocketHandlers } from './ports.ts';

export function webSockets(clock: Clock): Connect {
  return (url, handlers) => openSocket(url, handlers, clock);
}

function openSocket(url: string, handlers: SocketHandlers, clock: Clock): Socket {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    handshakeTimeout: CONNECT_TIMEOUT_MS,
  });
  let failure: string | undefined;
  let cancelGrace = (): void => {};
  socket.on('open', handlers.opened);
  socket.on('pong', handlers.pong);
  socket.on('message', (data, isBinary) => {
    handlers.message(isBinary || !Buffer.isBuffer(data) || data.length > MAX_MESSAGE_BYTES ? undefined : data.toString());
  });
  // Every error is followed by `close`; the first one is the cause.
  socket.on('error', (error) => {
    failure ??= error.message;
  });
  const gone = new Promise<void>((resolve) => {
    socket.on('close', (code, reason) => {
      cancelGrace();
      resolve();
      handlers.lost(failure ?? `closed by the relay (${code}${reason.length > 0 ? `: ${reason.toString()}` : ''})`);
    });
  });
  const whenOpen = (act: () => void): void => {
    if (socket.readyState === WebSocket.OPEN) act();
  };
  return {
    gone,
    backlogBytes: () => socket.bufferedAmount,
    send: (text) => { whenOpen(() => { socket.send(text); }); },
    ping: () => { whenOpen(() => { socket.ping(); }); },
    pause: () => { socket.pause(); },
    resume: () => { socket.resume(); },
    hangUp: () => {
      if (socket.readyState === WebSocket.CLOSED) return;
      // A paused socket would never read the answering close frame.
      socket.resume();
      cancelGrace = clock.wake(later(clock.now(), CLOSE_GRACE_MS), () => { socket.terminate(); });
      if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
      else socket.close(1000);
    },
    destroy: () => { socket.terminate(); },
  };
}
