/**
 * Faults to plant in the compiler, one at a time: each is one rule broken, in the way that a hurried change would
 * break it. in: nothing. out: the list, as data. A fault whose text is no longer found is to be written anew, never
 * dropped: the rule is still there.
 */

export interface Fault {
  /** The rule broken, in words. */
  readonly name: string;
  /** In `compiler/`. */
  readonly file: string;
  /** Stands exactly once in that file. */
  readonly find: string;
  readonly replace: string;
  /** Where what comes out of a legal turn is the same: it is about what is refused, or about values no turn holds. */
  readonly isUnseenByTwin?: true;
}

export const FAULTS: readonly Fault[] = [
  // Text rules.
  { name: 'an escape of & dropped', file: 'markup.ts', find: "text.replaceAll('&', '&amp;')", replace: 'text' },
  { name: 'an escape of < dropped', file: 'markup.ts', find: ".replaceAll('<', '&lt;')", replace: '' },
  { name: 'an escape of > dropped', file: 'markup.ts', find: ".replaceAll('>', '&gt;')", replace: '' },
  {
    name: '& escaped last', file: 'markup.ts',
    find: "text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')",
    replace: "text.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('&', '&amp;')",
  },
  { name: 'an escape of " dropped', file: 'markup.ts', find: `.replaceAll('"', '&quot;')`, replace: '' },
  { name: "an escape of ' dropped", file: 'markup.ts', find: `.replaceAll("'", '&apos;')`, replace: '' },
  { name: 'a TAB left in an attribute', file: 'markup.ts', find: '/[\\n\\r\\t]/g', replace: '/[\\n\\r]/g' },
  { name: 'CRLF in an attribute made one space', file: 'markup.ts', find: '/[\\n\\r\\t]/g', replace: '/\\r\\n|[\\n\\r\\t]/g' },
  {
    name: 'an attribute taken for plain because it has no markup', file: 'markup.ts',
    find: 'const NOT_PLAIN = /[&<>"\'\\n\\r\\t]/', replace: 'const NOT_PLAIN = /[&<>"\']/',
  },
  {
    name: "trimmed with JavaScript's trim", file: 'text.ts',
    find: 'return text.slice(startAfter(text, isWhiteSpace), endBefore(text, isWhiteSpace));', replace: 'return text.trim();',
  },
  { name: 'NEL no white space', file: 'text.ts', find: ' || unit === 0x85', replace: '' },
  { name: 'a byte order mark white space', file: 'text.ts', find: 'unit === 0x3000', replace: 'unit === 0x3000 || unit === 0xfeff' },
  { name: 'U+2028 no white space', file: 'text.ts', find: ' || unit === 0x2028', replace: '' },
  {
    name: 'a cut in UTF-16 units', file: 'text.ts',
    find: "end += (text.charCodeAt(end) & 0xfc00) === 0xd800 ? 2 : 1;", replace: 'end += 1;',
  },
  {
    name: 'tokens by UTF-16 length', file: 'text.ts',
    find: "return text.length - text.replace(NO_SURROGATES, '').length / 2;", replace: 'return text.length;',
  },
  { name: 'lone surrogates left', file: 'text.ts', find: 'return text.toWellFormed();', replace: 'return text;' },
  { name: 'text normalised', file: 'text.ts', find: 'return text.toWellFormed();', replace: "return text.toWellFormed().normalize('NFC');" },
  { name: 'tags not made well-formed', file: 'well-formed.ts', find: 'tags.map((tag) => tag.map(wellFormed))', replace: 'tags' },

  // Labels.
  { name: 'a label of 65 scalars', file: 'people.ts', find: 'MAX_LABEL_SCALARS = 64', replace: 'MAX_LABEL_SCALARS = 65' },
  { name: 'a label of 63 scalars', file: 'people.ts', find: 'MAX_LABEL_SCALARS = 64', replace: 'MAX_LABEL_SCALARS = 63' },
  { name: 'bidi isolates left in a label', file: 'people.ts', find: '\\u2066-\\u2069', replace: '' },
  { name: 'bidi embeddings left in a label', file: 'people.ts', find: '\\u202a-\\u202e', replace: '' },
  { name: 'controls left in a label', file: 'people.ts', find: '\\p{Cc}', replace: '' },
  {
    name: 'a label trimmed after its controls are removed', file: 'people.ts',
    find: "trim(name).replace(CONTROLS, '')", replace: "trim(name.replace(CONTROLS, ''))",
  },
  { name: 'no address for a name', file: 'people.ts', find: ' ?? clean(profile?.nip05)', replace: '' },
  { name: 'the address before the name', file: 'people.ts', find: 'clean(profile?.displayName) ?? clean(profile?.nip05)', replace: 'clean(profile?.nip05) ?? clean(profile?.displayName)' },
  { name: 'lower case forgotten for a label', file: 'people.ts', find: 'const key = pubkey.toLowerCase();', replace: 'const key = pubkey;' },
  { name: 'lower case forgotten for an agent', file: 'people.ts', find: 'profileOf(pubkey.toLowerCase())?.isAgent', replace: 'profileOf(pubkey)?.isAgent' },
  { name: 'a stranger taken for an agent', file: 'people.ts', find: '?.isAgent === true', replace: '?.isAgent !== false' },
  {
    name: 'an inherited member taken for a profile', file: 'people.ts',
    find: 'profiles !== undefined && Object.hasOwn(profiles, key) ? profiles[key] : undefined', replace: 'profiles?.[key]', isUnseenByTwin: true,
  },

  // Threads and routing.
  {
    name: 'the first root marker wins', file: 'threads.ts',
    find: 'root = id.toLowerCase();', replace: 'root ??= id.toLowerCase();',
  },
  {
    name: 'the first reply marker wins', file: 'threads.ts',
    find: 'reply = id.toLowerCase();', replace: 'reply ??= id.toLowerCase();',
  },
  { name: 'lower case forgotten for a root', file: 'threads.ts', find: 'root = id.toLowerCase();', replace: 'root = id;' },
  { name: 'lower case forgotten for a parent', file: 'threads.ts', find: 'reply = id.toLowerCase();', replace: 'reply = id;' },
  { name: 'an upper case id no id', file: 'threads.ts', find: '{64}$/i', replace: '{64}$/' },
  { name: 'an id of any length', file: 'threads.ts', find: '{64}$/i', replace: '+$/i' },
  { name: 'a lone root a thread', file: 'threads.ts', find: 'return reply === undefined ? undefined : { root: root ?? reply, parent: reply };', replace: 'const top = root ?? reply;\n  return top === undefined ? undefined : { root: top, parent: reply ?? top };' },
  { name: 'only the first mention', file: 'threads.ts', find: 'mentions.push(pubkey);', replace: 'return [pubkey];' },
  { name: 'an empty mention left out', file: 'threads.ts', find: "pubkey !== undefined) mentions", replace: "pubkey !== undefined && pubkey !== '') mentions" },
  { name: 'the first event decides', file: 'routing.ts', find: 'input.events.at(-1)?.event', replace: 'input.events.at(0)?.event' },
  {
    name: 'an anchor at the top of a DM', file: 'routing.ts',
    find: 'replyTo: root === undefined ? undefined : last.id', replace: 'replyTo: last.id',
  },
  {
    name: 'the root as anchor in a DM', file: 'routing.ts',
    find: 'replyTo: root === undefined ? undefined : last.id', replace: 'replyTo: root',
  },
  { name: 'an anchor among agents', file: 'routing.ts', find: 'facesHuman(last, people) ? (root ?? last.id) : undefined', replace: 'root ?? last.id' },
  { name: 'the event as anchor in a thread', file: 'routing.ts', find: '(root ?? last.id)', replace: 'last.id' },
  { name: 'a mentioned person forgotten', file: 'routing.ts', find: '.some((pubkey) => !people.isAgent(pubkey))', replace: '.every((pubkey) => !people.isAgent(pubkey))' },
  { name: 'a thread of a DM a thread', file: 'routing.ts', find: "input.channel?.type === 'dm'", replace: "input.channel?.type === 'dm' && root === undefined" },
  { name: 'merge dispositions exchanged', file: 'routing.ts', find: "case 'interrupt':\n      return 'supersede_prior_work'", replace: "case 'interrupt':\n      return 'continue_prior_work'" },

  // The envelope.
  { name: 'an attribute swapped', file: 'events.ts', find: "    ['author', people.label(event.pubkey)],\n    ['actor', event.pubkey],", replace: "    ['actor', event.pubkey],\n    ['author', people.label(event.pubkey)]," },
  { name: 'author and actor exchanged', file: 'events.ts', find: "['author', people.label(event.pubkey)]", replace: "['author', event.pubkey]" },
  { name: 'a parent that is the root', file: 'events.ts', find: 'thread?.parent === thread?.root ? undefined : thread?.parent', replace: 'thread?.parent' },
  { name: 'one @ taken from a rule', file: 'events.ts', find: '/^@+/', replace: '/^@/' },
  { name: 'every @ taken from a rule', file: 'events.ts', find: '/^@+/', replace: '/@/g' },
  { name: 'content not escaped', file: 'events.ts', find: 'escapeText(event.content)', replace: 'event.content' },
  { name: 'a mention without its key', file: 'events.ts', find: '`${label} (${pubkey})`', replace: 'label' },
  { name: 'a description of 499', file: 'ambient.ts', find: 'MAX_DESCRIPTION_SCALARS = 500', replace: 'MAX_DESCRIPTION_SCALARS = 499' },
  { name: 'a description of 501', file: 'ambient.ts', find: 'MAX_DESCRIPTION_SCALARS = 500', replace: 'MAX_DESCRIPTION_SCALARS = 501' },
  { name: 'a description cut after its escapes', file: 'ambient.ts', find: "const head = firstScalars(description, MAX_DESCRIPTION_SCALARS);", replace: 'const head = firstScalars(escapeText(description), MAX_DESCRIPTION_SCALARS);' },
  { name: 'no ellipsis', file: 'ambient.ts', find: "${truncated ? '…' : ''}", replace: '' },
  { name: 'a description in a DM', file: 'ambient.ts', find: "channel.type === 'dm' ? '' : ", replace: '' },
  { name: 'a description split at LF alone', file: 'ambient.ts', find: '.split(/[\\n\\r]/)', replace: ".split('\\n')" },
  { name: 'blank lines of a description kept', file: 'ambient.ts', find: "    .filter((line) => line !== '')\n", replace: '' },
  { name: 'delivered before truncated', file: 'ambient.ts', find: "history === undefined ? delivered : 'truncated'", replace: "history === undefined || input.historyDelivered === true ? delivered : 'truncated'" },
  { name: 'no root to retrieve by', file: 'ambient.ts', find: '${escapeText(input.channelId)}${root}', replace: '${escapeText(input.channelId)}' },
  { name: 'the key for the label in the history', file: 'ambient.ts', find: 'people.label(pubkey) ?? pubkey', replace: 'pubkey' },
  { name: 'a label of the history not escaped', file: 'ambient.ts', find: 'escapeText(people.label(pubkey) ?? pubkey)', replace: '(people.label(pubkey) ?? pubkey)' },
  { name: 'total for included', file: 'ambient.ts', find: 'String(history.messages.length)', replace: 'String(history.total)' },
  { name: 'the interrupted turn after the events', file: 'envelope.ts', find: "    ['</ambient-context>'],\n    [events, 'current_instruction'],", replace: "    [events, 'current_instruction'],\n    ['</ambient-context>']," },

  // Standing text.
  { name: 'a section lost', file: 'standing.ts', find: "  { member: 'coreMemory', tag: 'core-memory', clean: trimLineBreaks },\n", replace: '' },
  { name: 'base keeps the white space at its end', file: 'standing.ts', find: 'clean: (text) => trimLineBreaks(trimEnd(text))', replace: 'clean: trimLineBreaks' },
  { name: 'system loses all white space', file: 'standing.ts', find: "tag: 'system', clean: trimLineBreaks", replace: "tag: 'system', clean: trim" },
  { name: 'team instructions keep white space', file: 'standing.ts', find: "tag: 'team-instructions', clean: trim }", replace: "tag: 'team-instructions', clean: trimLineBreaks }" },
  { name: 'standing text not escaped', file: 'standing.ts', find: 'escapeText(clean(text))', replace: 'clean(text)' },
  { name: 'sections without a blank line between', file: 'standing.ts', find: "join('\\n\\n')", replace: "join('\\n')" },
  { name: 'standing text sent again', file: 'compile.ts', find: "    case 'sent':\n      return { blocks: [envelope] };\n    default", replace: "    case 'sent':\n      return { blocks: [renderStanding(standing), envelope] };\n    default" },
  { name: 'an empty system role', file: 'compile.ts', find: "...(system === '' ? {} : { system })", replace: 'system' },

  // The manifest.
  { name: 'a layer lost', file: 'layers.ts', find: '    layerOf(KINDS.status, parts.status),\n', replace: '' },
  { name: 'the workspace a layer', file: 'layers.ts', find: '    standingLayer(KINDS.base, standing.base),', replace: '    standingLayer(KINDS.base, standing.base),\n    standingLayer(KINDS.base, standing.workspace),' },
  { name: 'base hashed trimmed', file: 'layers.ts', find: 'standingLayer(KINDS.base, standing.base)', replace: "layerOf(KINDS.base, trim(standing.base ?? ''))" },
  { name: 'guidance not trimmed', file: 'layers.ts', find: "trim(text ?? '')", replace: "(text ?? '')" },
  { name: 'guidance joined by one line break', file: 'layers.ts', find: "join('\\n\\n')", replace: "join('\\n')" },
  { name: 'a cut description not told', file: 'layers.ts', find: ', { truncated: parts.channel.truncated }', replace: '' },
  { name: 'a truncated history not told', file: 'layers.ts', find: '{ version, truncated });', replace: '{ version });' },
  { name: 'the history versioned as rendered', file: 'layers.ts', find: '{ version, truncated });', replace: '{ truncated });' },
  { name: 'times left out of the history', file: 'layers.ts', find: 'message.timestamp, ', replace: '' },
  { name: 'a history member out of order', file: 'layers.ts', find: 'JSON.stringify({ messages, scope, total, truncated })', replace: 'JSON.stringify({ messages, scope, truncated, total })' },
  { name: 'a history of a DM a thread', file: 'layers.ts', find: "scope === 'dm' ? KINDS.dmHistory : KINDS.threadHistory", replace: 'KINDS.threadHistory' },
  { name: 'the first of several events the version', file: 'layers.ts', find: 'events.length === 1 ? ', replace: 'events.length > 0 ? ' },
  { name: 'the canvas before the channel', file: 'layers.ts', find: "kind([4, 'channel_canvas'", replace: "kind([3, 'channel_canvas'" },
  { name: 'guidance of a steer with the authority of a message', file: 'layers.ts', find: "'steer_framing', 'routing_constraint'", replace: "'steer_framing', 'authoritative'" },
  { name: 'guidance of a steer no layer', file: 'layers.ts', find: ', layerOf(KINDS.steer, guidance)]', replace: ']' },
  { name: 'layers not sorted', file: 'manifest.ts', find: '.sort((one, other) => one.order - other.order)', replace: '' },
  { name: 'an unstable sort', file: 'manifest.ts', find: '.sort((one, other) => one.order - other.order)', replace: '.sort((one, other) => one.order - other.order || (one.layer < other.layer ? -1 : 1))' },
  { name: 'layers of one order reversed', file: 'manifest.ts', find: 'layers.map(canonical).sort(', replace: 'layers.map(canonical).reverse().sort(' },
  { name: 'hashed before it is sorted', file: 'manifest.ts', find: 'hash: sha256(JSON.stringify(sorted))', replace: 'hash: sha256(JSON.stringify(layers.map(canonical)))' },
  { name: 'tokens rounded down', file: 'manifest.ts', find: 'Math.ceil(', replace: 'Math.floor(' },
  { name: 'a blank layer kept', file: 'manifest.ts', find: '  if (isBlank(content)) return undefined;\n', replace: '' },
  { name: 'members of a layer as they came', file: 'manifest.ts', find: 'layers.map(canonical).sort(', replace: '[...layers].sort(', isUnseenByTwin: true },

  // Steers and ledgers.
  { name: 'a steer before the ledger', file: 'ledger.ts', find: '[...ledger.layers, ...layers]', replace: '[...layers, ...ledger.layers]' },
  { name: 'a steer instead of the ledger', file: 'ledger.ts', find: '[...ledger.layers, ...layers]', replace: '[...layers]' },
  { name: 'a steer without its delivery line', file: 'steer.ts', find: 'parts.events, parts.delivery, GUIDANCE', replace: 'parts.events, GUIDANCE' },
  { name: 'a steer of another mode', file: 'steer.ts', find: 'mode="steer"', replace: 'mode="interrupt"' },
  { name: 'a steer not made well-formed', file: 'steer.ts', find: 'const turn = wellFormedTurn(input);', replace: 'const turn = input;' },

  // What is refused.
  { name: 'fifty-one events taken', file: 'input.ts', find: 'MAX_EVENTS = 50', replace: 'MAX_EVENTS = 51', isUnseenByTwin: true },
  { name: 'an empty batch taken', file: 'input.ts', find: '  1,\n  MAX_EVENTS,', replace: '  0,\n  MAX_EVENTS,', isUnseenByTwin: true },
  { name: 'a key in upper case taken', file: 'input.ts', find: 'const HEX_64 = /^[0-9a-f]{64}$/', replace: 'const HEX_64 = /^[0-9a-f]{64}$/i', isUnseenByTwin: true },
  { name: 'an unknown member taken', file: 'shape.ts', find: '      if (!members.has(name)) refuse(memberPath(path, name), ', replace: '      if (name === path) refuse(memberPath(path, name), ', isUnseenByTwin: true },
  { name: 'an inherited member taken', file: 'shape.ts', find: 'Object.hasOwn(object, name)', replace: 'name in object', isUnseenByTwin: true },
  { name: 'a fraction taken', file: 'shape.ts', find: 'Number.isInteger(value) && ', replace: '', isUnseenByTwin: true },
  { name: 'a negative number taken', file: 'shape.ts', find: 'value >= 0 && ', replace: '', isUnseenByTwin: true },
  { name: 'a list taken for an object', file: 'shape.ts', find: ' || Array.isArray(value)) refuse', replace: ') refuse', isUnseenByTwin: true },
  { name: 'a member given twice taken', file: 'json.ts', find: 'if (members.has(name))', replace: "if (name === '')", isUnseenByTwin: true },
  { name: 'a member of __proto__ lost', file: 'json.ts', find: 'return Object.fromEntries(members);', replace: 'const object: Record<string, Json> = {};\n  for (const [name, value] of members) object[name] = value;\n  return object;', isUnseenByTwin: true },
  { name: 'nesting without a bound', file: 'json.ts', find: 'MAX_DEPTH = 32', replace: 'MAX_DEPTH = Infinity', isUnseenByTwin: true },
  { name: 'a control character taken in a string', file: 'json.ts', find: 'if (!(unit >= 0x20))', replace: 'if (!(unit >= 0x1f))', isUnseenByTwin: true },
  { name: 'a secret key shown', file: 'refusal.ts', find: "  if (SECRET_KEY.test(text)) return 'a secret key (not shown)';\n", replace: '', isUnseenByTwin: true },
];
