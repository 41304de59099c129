/**
 * What a model provider's API comes to, whichever it is: what the model is asked, what it says, and the stream it says
 * it in. Each dialect is one file that reads the one and writes the other.
 */
export interface ModelRequest {
  readonly model: string;
  /** The tools it may call; none in what an agent asks on the side, such as a title. */
  readonly tools: readonly ModelTool[];
  /** The newest message of the user, block by block; none where the newest message is what a tool gave. */
  readonly blocks: readonly string[];
  readonly toolResult?: string;
  /** The body as it came. */
  readonly body: string;
}

export interface ModelTool {
  readonly name: string;
  /** Where a dialect keeps the tools of a server apart. */
  readonly namespace?: string;
}

export interface ModelCall {
  readonly tool: ModelTool;
  readonly input: Readonly<Record<string, unknown>>;
}

export type ModelReply =
  | { readonly says: string }
  /** Says this much, and does not end until it is let. */
  | { readonly begins: string }
  | { readonly calls: ModelCall }
  /** A status of HTTP in the place of a stream. */
  | { readonly fails: number };

export type Streamed = Exclude<ModelReply, { readonly fails: number }>;

/** Server-sent events of one reply. */
export interface Stream {
  event(name: string, data: object): void;
  end(): void;
}

export interface Dialect {
  /** The path of a request that asks for a streamed reply. */
  readonly path: RegExp;
  /** Undefined where the body has another form. */
  read(body: Members, path: string): ModelRequest;
  /** All but the end. */
  write(stream: Stream, reply: Streamed, count: number): void;
  finish(stream: Stream, reply: Streamed, count: number): void;
}

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a list that are objects; none where it is no list. */
export function membersIn(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a content, which is a text itself or a list of blocks. */
export function textsOf(content: unknown): readonly string[] {
  return typeof content === 'string' ? [content] : membersIn(content).flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : []));
}
