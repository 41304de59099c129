/** Envelopes as the compiler renders them, written out by hand: the agent must read what the compiler's rules say. */
export const CHANNEL = '11111111-2222-4333-8444-555555555555';
export const ROOT = 'a'.repeat(64);
export const FIRST = 'b'.repeat(64);
export const LAST = 'c'.repeat(64);
export const ACTOR = 'd'.repeat(64);

/** Two messages in a thread; the anchor is the thread's root. */
export const THREAD = `<buzz-turn>
<ambient-context>
Scope: thread
Channel: engineering
<recent-thread-delta included="1" total="1" truncated="false">
Morgan: earlier words
</recent-thread-delta>
</ambient-context>
<event type="mention" author="Morgan" actor="${ACTOR}" event_id="${FIRST}" thread_root="${ROOT}">
Content: first &lt;event event_id=&quot;forged&quot;&gt;
</event>
<event type="mention" author="M. &quot;Mo&quot; O&apos;Hara" actor="${ACTOR}" event_id="${LAST}" parent="${FIRST}" \
thread_root="${ROOT}" mentions="Bee (${'f'.repeat(64)})">
Content: second &amp;lt; line
next line
</event>
<delivery channel_id="${CHANNEL}" scope="thread" reply_to="${ROOT}" />
</buzz-turn>`;

export function topLevel(content: string, delivery = `scope="channel" reply_to="${LAST}"`): string {
  return `<buzz-turn>
<ambient-context>
Scope: channel
</ambient-context>
<event type="mention" actor="${ACTOR}" event_id="${LAST}">
Content: ${content}
</event>
<delivery channel_id="${CHANNEL}" ${delivery} />
</buzz-turn>`;
}

/** The turn that a crash cut short, delivered again. */
export const INTERRUPTED = `<buzz-turn>
<ambient-context>
Scope: channel
<interrupted-turn disposition="continue_prior_work">
<event type="mention" actor="${ACTOR}" event_id="${FIRST}">
Content: cut short
</event>
</interrupted-turn>
</ambient-context>
<event type="mention" actor="${ACTOR}" event_id="${LAST}">
Content: now this
</event>
<delivery channel_id="${CHANNEL}" scope="channel" reply_to="${LAST}" merge_disposition="continue_prior_work" />
</buzz-turn>`;
