/**
 * What an agent says of its failures: cut and redacted so that it may be shown, and sorted by the signs its adapter names
 * (`trouble.ts`). A model that failed may come as an error, or as an answer that only looks like one.
 */
import type { Dialect } from '../../adapters/index.ts';
import { excerpt } from '../model/index.ts';
import { INTERNAL_ERROR } from './frames.ts';
import type { ModelTrouble } from './ports.ts';
import type { Redactor } from './redaction.ts';
import { troubleInAnswer, troubleOf } from './trouble.ts';
import type { AgentError } from './trouble.ts';

const MAX_DETAIL = 500;

export interface Failed {
  readonly code: number;
  readonly message: string;
  readonly trouble?: ModelTrouble;
  /** The message is what the agent said as its answer. */
  readonly inAnswer?: true;
}

export class AgentErrors {
  readonly #redacted: Redactor;
  readonly #signs: Dialect['errorSigns'];

  constructor(redacted: Redactor, signs: Dialect['errorSigns']) {
    this.#redacted = redacted;
    this.#signs = signs;
  }

  /** An agent's words, fit to be shown: at most 500 characters. */
  detail(message: string): string {
    return excerpt(this.#redacted(message), MAX_DETAIL);
  }

  failure(error: AgentError): Failed {
    const trouble = troubleOf(error, this.#signs);
    return { code: error.code, message: this.detail(error.message), ...(trouble && { trouble }) };
  }

  /** A turn that "ends" although its model failed: by a sign on the way (`failing`), or by all that it said. */
  disguised({ failing, text }: { readonly failing: boolean; readonly text: string }): Failed | undefined {
    if (failing) return { ...this.failure({ code: INTERNAL_ERROR, message: text }), inAnswer: true };
    const trouble = troubleInAnswer(text, this.#signs);
    return trouble && { code: INTERNAL_ERROR, message: this.detail(text), trouble, inAnswer: true };
  }
}
