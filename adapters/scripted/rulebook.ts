/**
 * Chooses the rule for a prompt: the first that matches and is not used up.
 * in: the rules in order, the facts of a turn. out: the rule's steps; its regular expression's groups become `match`.
 * `times` counts for this process, `once` for all processes that share a gates directory.
 */
import { asText } from './json.ts';
import type { Json } from './json.ts';
import type { Rule, Step } from './script.ts';
import { holds } from './template.ts';

export interface Rulebook {
  /** The steps to play, or undefined where no rule matches. Uses the chosen rule up by one. */
  readonly choose: (variables: Map<string, Json>) => readonly Step[] | undefined;
}

/** `claim` is true for the first caller of a name, in whatever process. */
export function rulebook(rules: readonly Rule[], claim: (name: string) => boolean): Rulebook {
  const used = new Map<Rule, number>();
  return {
    choose: (variables) => {
      for (const rule of rules) {
        const times = used.get(rule) ?? 0;
        const groups = matches(rule, asText(variables.get('content')));
        if (groups === undefined || times >= rule.times || !applies(rule, variables)) continue;
        // Claimed last: a rule that does not apply must leave the marker to the turn that it is meant for.
        if (rule.once !== undefined && !claim(rule.once)) continue;
        used.set(rule, times + 1);
        variables.set('match', groups);
        return rule.steps;
      }
      return undefined;
    },
  };
}

function applies(rule: Rule, variables: Map<string, Json>): boolean {
  return holds(rule.when, variables) && !(rule.unless.size > 0 && holds(rule.unless, variables));
}

function matches({ match }: Rule, content: string): Json | undefined {
  if (match === undefined) return {};
  if (match.type === 'text') return content.includes(match.text) ? { 0: match.text } : undefined;
  const found = match.regex.exec(content);
  if (found === null) return undefined;
  // A group that took no part in the match is undefined, whatever the library's types say.
  const groups: readonly (readonly [string | number, string | undefined])[] = [
    ...found.entries(),
    ...Object.entries(found.groups ?? {}),
  ];
  return Object.fromEntries(groups.map(([name, text]) => [name, text ?? '']));
}
