/**
 * The ACP SDK behind our own framing. It numbers, types and matches our requests; it is handed nothing but answers to
 * them. Everything else that an agent says is handled before it, because the SDK neither orders nor awaits handlers of
 * notifications, prints updates it cannot read, answers noise into the agent's stdin and permission requests of an odd
 * shape by itself.
 */
import { client, methods, RequestError } from '@agentclientprotocol/sdk';
import type { AnyMessage, InitializeRequest, NewSessionRequest, PromptRequest } from '@agentclientprotocol/sdk';
import { INTERNAL_ERROR } from './frames.ts';

/** What became of a call. Results are `unknown`: the SDK types them without a look. */
export type CallResult =
  | { readonly status: 'result'; readonly result: unknown }
  | { readonly status: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** The connection was closed while the call waited. */
  | { readonly status: 'closed' };

export interface SdkClient {
  initialize(params: InitializeRequest): Promise<CallResult>;
  newSession(params: NewSessionRequest): Promise<CallResult>;
  prompt(params: PromptRequest): Promise<CallResult>;
  /** Any other request. */
  call(method: string, params: Readonly<Record<string, unknown>>): Promise<CallResult>;
  /** Resolves when it was handed over, or cannot be. */
  cancel(sessionId: string): Promise<unknown>;
  /** An answer to a request of ours that still waits. */
  deliver(answer: AnyMessage): void;
  /** Settles every waiting call with `closed`. Twice is once. */
  close(): void;
}

/** `write` gets each message in order and must not throw. */
export function sdkClient(write: (message: AnyMessage) => void): SdkClient {
  const incoming = new TransformStream<AnyMessage, AnyMessage>();
  const answers = incoming.writable.getWriter();
  const connection = client({ name: 'skep' }).connect({
    readable: incoming.readable,
    writable: new WritableStream<AnyMessage>({ write }),
  });
  let closed = false;
  const settle = (call: Promise<unknown>): Promise<CallResult> =>
    call.then(
      (result) => ({ status: 'result', result }),
      (error: unknown) => {
        if (closed) return { status: 'closed' };
        const known = error instanceof RequestError;
        return {
          status: 'error',
          code: known ? error.code : INTERNAL_ERROR,
          message: known ? error.message : String(error),
          ...(known && error.data !== undefined && { data: error.data }),
        };
      },
    );
  const { agent } = connection;
  const { session } = methods.agent;
  return {
    initialize: (params) => settle(agent.request(methods.agent.initialize, params)),
    newSession: (params) => settle(agent.request(session.new, params)),
    prompt: (params) => settle(agent.request(session.prompt, params)),
    call: (method, params) => settle(agent.request(method, params)),
    cancel: (sessionId) => settle(agent.notify(session.cancel, { sessionId })),
    deliver(answer) {
      void settle(answers.write(answer));
    },
    close() {
      if (closed) return;
      closed = true;
      connection.close();
      void settle(answers.abort());
    },
  };
}
