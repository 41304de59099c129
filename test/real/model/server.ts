/**
 * A model provider on loopback, in the three APIs that the agent programs speak. It asks no network and no key of anyone:
 * what its model says is decided by the mind it is given.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic, wholeMessage } from './anthropic.ts';
import { chunk, gemini } from './gemini.ts';
import { valueOf } from './of-schema.ts';
import { isMembers } from './ports.ts';
import type { Members, ModelReply, ModelRequest, Stream } from './ports.ts';
import { responses } from './responses.ts';

const DIALECTS = [anthropic, responses, gemini];
/** What is said to who asks for something on the side, such as a title. */
const ASIDE = 'A played model.';

export interface ModelServer {
  /** Without a path. */
  readonly url: string;
  /** What it was asked, oldest first; not what was asked on the side. */
  readonly requests: readonly ModelRequest[];
  /** Ends the replies of which no more than a beginning was said. */
  letEnd(): void;
  close(): Promise<void>;
}

/** `onRequest` is called when the reply, or its beginning, was written. */
export async function openModelServer(mind: (request: ModelRequest) => ModelReply, onRequest: () => void): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const held: (() => void)[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = ''] = (request.url ?? '').split('?');
    const body = await readBody(request);
    const dialect = DIALECTS.find((one) => one.path.test(path));
    if (dialect === undefined || (dialect === anthropic && body['stream'] !== true)) return answerAside(path, body, response);
    const asked = dialect.read(body, path);
    // Codex asks nothing on the side, and some of its models are told of their tools elsewhere.
    const isAside = asked.tools.length === 0 && dialect !== responses;
    if (!isAside) requests.push(asked);
    const reply = isAside ? { says: ASIDE } : mind(asked);
    if ('fails' in reply) fail(reply.fails, response);
    else {
      const [stream, count] = [openStream(response), requests.length];
      const finish = (): void => dialect.finish(stream, reply, count);
      dialect.write(stream, reply, count);
      if ('begins' in reply) held.push(finish);
      else finish();
    }
    onRequest();
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on TCP
    requests,
    letEnd() {
      for (const finish of held.splice(0)) finish();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** In a form in which each of the providers' clients finds its own. */
function fail(status: number, response: ServerResponse): void {
  const type = status === 429 ? 'rate_limit_error' : 'authentication_error';
  const message = status === 429 ? 'Rate limit reached. Please try again in 20s.' : 'Incorrect API key provided.';
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type, code: status, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'UNAUTHENTICATED', message } }));
}

function openStream(response: ServerResponse): Stream {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return {
    event: (name, data) => { response.write(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`); },
    end: () => { response.end(); },
  };
}

/** What agents ask beside a stream: a count of tokens, a list of models, an answer in one piece. */
function answerAside(path: string, body: Members, response: ServerResponse): void {
  const json = (answer: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  };
  if (/count_tokens$/.test(path)) return json({ input_tokens: 100 });
  if (/:countTokens$/.test(path)) return json({ totalTokens: 100 });
  if (/\/v1\/messages$/.test(path)) return json(wholeMessage(ASIDE));
  if (/:generateContent$/.test(path)) return json(chunk({ text: geminiAside(body['generationConfig']) }, true));
  if (/\/models$/.test(path)) return json({ object: 'list', data: [] });
  json({ error: 'not found' }, 404);
}

/** Which model is to answer is asked as JSON, and asked again for ever where it is none. */
function geminiAside(config: unknown): string {
  if (!isMembers(config) || config['responseMimeType'] !== 'application/json') return ASIDE;
  return JSON.stringify(valueOf(config['responseJsonSchema'] ?? config['responseSchema']));
}

async function readBody(request: IncomingMessage): Promise<Members> {
  const chunks: Buffer[] = [];
  for await (const one of request) chunks.push(one as Buffer); // no encoding was set
  const text = Buffer.concat(chunks).toString('utf8');
  const body: unknown = text === '' ? {} : JSON.parse(text);
  return isMembers(body) ? body : {};
}
