/**
 * The log of a running program: one line an entry, each written before the call returns, so that the last words before
 * a crash are there. Fields pass `safeFields`; the message is redacted by form. A destination that is gone (a closed
 * pipe) never ends the program.
 */
import { pino } from 'pino';
import { redact } from '../model/index.ts';
import type { Log, LogLevel } from '../model/index.ts';
import { asText } from './text.ts';
import { safeFields } from './safe.ts';

export interface LogOutput {
  /** `json` for machines, `text` for people, `coloured` for people at a terminal. */
  readonly form: 'json' | 'text' | 'coloured';
  /** Takes one line with its line break. */
  readonly write: (line: string) => void;
}

/** Without `output`, lines go to stderr: for people at a terminal, as JSON elsewhere. */
export function openLog(level: LogLevel, { form, write }: LogOutput = standardError()): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => { write(form === 'json' ? line : asText(line, form === 'coloured')); } },
  );
  const say = (at: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      if (logger.isLevelEnabled(at)) logger[at](safeFields(fields), redact(message));
    };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

function standardError(): LogOutput {
  const form = !process.stderr.isTTY ? 'json' : process.stderr.hasColors() ? 'coloured' : 'text';
  return { form, write: (line) => { process.stderr.write(line); } };
}
