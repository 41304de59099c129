/**
 * Standing text: what holds for the whole session, section by section. Compiler spec, the paired boundaries of
 * standing context; "Standing text", rules version 1.
 */
import { escapeText } from './markup.ts';
import { isBlank, trim, trimEnd, trimLineBreaks } from './text.ts';
import type { Standing } from './turn.ts';
import { wellFormedStanding } from './well-formed.ts';

interface Section {
  readonly member: keyof Standing;
  readonly tag: string;
  readonly clean: (text: string) => string;
}

// In the order they are rendered. Every section loses the line breaks around it; three lose more.
const SECTIONS: readonly Section[] = [
  { member: 'workspace', tag: 'workspace', clean: trimLineBreaks },
  { member: 'base', tag: 'base', clean: (text) => trimLineBreaks(trimEnd(text)) },
  { member: 'system', tag: 'system', clean: trimLineBreaks },
  { member: 'teamInstructions', tag: 'team-instructions', clean: trim },
  { member: 'coreMemory', tag: 'core-memory', clean: trimLineBreaks },
  { member: 'huddleInstructions', tag: 'huddle-instructions', clean: trim },
  { member: 'channelCanvas', tag: 'channel-canvas', clean: trimLineBreaks },
];

/** The standing text of a session, for a caller that opens one before its first turn; '' if every section is blank. */
export function standingText(standing: Standing): string {
  return renderStanding(wellFormedStanding(standing));
}

/** The sections of well-formed `standing` that are not blank, joined by one blank line; '' if there is none. */
export function renderStanding(standing: Standing): string {
  return sectionsOf(standing).map(({ text }) => text).join('\n\n');
}

export interface RenderedSection {
  readonly member: keyof Standing;
  readonly text: string;
}

/** Each section of well-formed `standing` that is not blank, between its tags. */
export function sectionsOf(standing: Standing): readonly RenderedSection[] {
  const sections: RenderedSection[] = [];
  for (const { member, tag, clean } of SECTIONS) {
    const text = standing[member];
    if (text === undefined || isBlank(text)) continue;
    sections.push({ member, text: `<${tag}>\n${escapeText(clean(text))}\n</${tag}>` });
  }
  return sections;
}
