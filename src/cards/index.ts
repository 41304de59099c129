/**
 * Permission cards as values, for those who write them and those who read them; also the export `skep/cards`.
 * in: src/model; pure, and nothing of Node. out: content and tags of a card and of its edit, a parser, the bounds.
 */
export { CARD_EDIT_KIND, CARD_KIND, CARD_LIMITS } from './card.ts';
export type { CardFacts, CardOption, CardResolution } from './card.ts';
export { buildCard, cardTags, editTags, pendingContent, resolvedContent } from './build.ts';
export type { CardRefusal, CardRequest } from './build.ts';
export { mayPassForCard, parseCard } from './parse.ts';
export type { CardFault, ParsedCard } from './parse.ts';
