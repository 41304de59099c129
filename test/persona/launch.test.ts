/** What an agent is started with, and what is remembered of it. NIP-AP "Launch with teams", "Launch composition", "Launch records". */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { standingText } from '../../compiler/index.ts';
import { eventId, milliseconds, seconds } from '../../src/model/index.ts';
import type { Clock } from '../../src/model/index.ts';
import {
  asTeamId, composeLaunch, definitionTemplate, deleteTeam, deliver, launchFacts, launchRecord, personaSnapshot, plainDefinition, planLaunch, versionPlaintext, versionTemplate, writeDefinition,
  writeRecords, writeTeam,
} from '../../src/persona/index.ts';
import type { Engram, LaunchFacts, LaunchOrder, Subject, Team, TeamFacts, Version } from '../../src/persona/index.ts';
import { agent } from './people.ts';
import { memoryRelay, ports, seal, signed } from './world.ts';

const ID = eventId('a'.repeat(64));
const DEFINED = { type: 'definition', systemPrompt: 'from the definition' } as const;

function version(text: string | undefined): Version {
  return { id: ID, createdAt: seconds(1), reading: text === undefined ? { status: 'invalid', fault: 'prefix', detail: 'why' } : { status: 'valid', text } };
}

function team(name: string, text: string | undefined | Version, instructions?: string): TeamFacts {
  return { id: asTeamId(name) ?? expect.fail('no team id'), name, version: typeof text === 'string' ? version(text) : text, instructions };
}

/** Both texts, or the code of the refusal. */
function composed(facts: Partial<LaunchFacts>): string {
  const one = composeLaunch({ version: undefined, template: DEFINED, teams: [], ...facts });
  return one.ok ? `${one.layers.own.source.type} "${one.layers.own.text}", team "${one.layers.team.text}"` : one.code;
}

describe('the agent’s own layer', () => {
  it.each<[string, Partial<LaunchFacts>, string]>([
    ['its version', { version: version('mine') }, 'version "mine", team ""'],
    ['an empty version, which stops', { version: version('') }, 'version "", team ""'],
    ['an invalid version, which blocks', { version: version(undefined) }, 'instructions_invalid'],
    ['its definition', {}, 'definition "from the definition", team ""'],
    ['a definition without a prompt', { template: { type: 'definition', systemPrompt: undefined } }, 'none "", team ""'],
    ['a definition that is gone', { template: { type: 'definition_unusable', detail: 'x' } }, 'definition_unusable'],
    ['a version although the definition is gone', { version: version('mine'), template: { type: 'definition_unusable', detail: 'x' } }, 'version "mine", team ""'],
    ['a legacy event', { template: { type: 'legacy', systemPrompt: 'old' } }, 'legacy "old", team ""'],
    ['nothing', { template: { type: 'legacy', systemPrompt: undefined } }, 'none "", team ""'],
    ['its white space', { version: version(' a\n') }, 'version " a\n", team ""'],
  ])('is %s', (_, facts, expected) => {
    expect(composed(facts)).toBe(expected);
  });
});

describe('the team layer', () => {
  it.each<[string, readonly TeamFacts[], string]>([
    ['one team', [team('a', 'hum')], 'hum'], ['two that say the same', [team('a', 'hum'), team('b', 'hum')], 'hum'],
    ['white space around it', [team('a', ' \n\u0085hum\u3000'), team('b', 'hum')], 'hum'], ['a byte order mark, which is none', [team('a', '\ufeffhum'), team('b', 'hum')], '!team_conflict'],
    ['one without instructions', [team('a', undefined)], ''], ['one with and one without', [team('a', 'hum'), team('b', undefined)], '!team_conflict'],
    ['one empty and one without', [team('a', ' '), team('b', undefined)], ''], ['two spellings', [team('a', 'é'), team('b', 'e\u0301')], '!team_conflict'],
    ['an invalid one', [team('a', 'hum'), team('b', version(undefined))], '!team_instructions_invalid'], ['an invalid one alone', [team('b', version(undefined), 'hum')], '!team_instructions_invalid'],
    ['a private text before any version', [team('a', undefined, 'hum'), team('b', 'hum')], 'hum'], ['a version before a private text', [team('a', '', 'hum')], ''],
  ])('%s', (_, teams, expected) => {
    expect(composed({ teams })).toBe(expected.startsWith('!') ? expected.slice(1) : `definition "from the definition", team "${expected}"`);
  });

  it('that is refused names the teams', () => {
    const conflict = composeLaunch({ version: undefined, template: DEFINED, teams: [team('a', 'x'), team('b', 'y')] });
    expect(conflict).toMatchObject({ ok: false, detail: 'teams: expected the same instructions, found different ones of "a" (a), "b" (b)' });
    const invalid = composeLaunch({ version: undefined, template: DEFINED, teams: [team('a', 'x'), team('b', version(undefined))] });
    expect(invalid).toMatchObject({ ok: false, detail: 'teams: expected valid instructions, found invalid ones of "b" (b)' });
  });

  it('of a long run of white space is compared in no more time than another', () => {
    expect(composed({ teams: [team('a', `${' '.repeat(131_071)}x`), team('b', `x${' '.repeat(131_071)}`)] })).toBe('definition "from the definition", team "x"');
    expect(composed({ teams: [team('a', `x${' '.repeat(131_070)}x`), team('b', 'x')] })).toBe('team_conflict');
  });
});

describe('the two texts', () => {
  const layersOf = (facts: Partial<LaunchFacts>) => {
    const one = composeLaunch({ version: version('mine'), template: DEFINED, teams: [team('a', 'hum')], ...facts });
    return one.ok ? one.layers : expect.fail(one.detail);
  };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  it('are handed to the compiler as two, the agent’s own first', () => {
    const { standing } = deliver(layersOf({}));
    expect(standing).toEqual({ system: 'mine', teamInstructions: 'hum' });
    expect(standingText(standing)).toBe('<system>\nmine\n</system>\n\n<team-instructions>\nhum\n</team-instructions>');
    expect(deliver(layersOf({ version: version(''), teams: [] })).standing).toEqual({});
  });

  it('are recorded with their hashes as delivered, and where each came from', () => {
    const layers = layersOf({});
    const delivery = deliver(layers, { team: { text: 'buzz', source: 'skep.yaml: agents.bee.team-instructions' } });
    const made = launchRecord({ runId: '550e8400-e29b-41d4-a716-446655440000', startedAt: seconds(7), layers, delivery });
    if (!made.ok) return expect.fail(made.detail);
    expect(made.engram.slug).toBe('mem/launches/550e8400-e29b-41d4-a716-446655440000');
    expect(JSON.parse(made.engram.value)).toEqual({
      v: 1, run_id: '550e8400-e29b-41d4-a716-446655440000', started_at: 7,
      own: { source: 'version', version: ID, empty: false, sha256: sha256('mine') },
      team: { teams: [{ id: 'a', version: ID }], sha256: sha256('buzz'), override: 'skep.yaml: agents.bee.team-instructions' },
    });
  });

  it('that say nothing are recorded as nothing', () => {
    const layers = layersOf({ version: version(''), teams: [team('a', undefined, '')] });
    const made = launchRecord({ runId: 'r1', startedAt: seconds(7), layers, delivery: deliver(layers) });
    if (!made.ok) return expect.fail(made.detail);
    expect(JSON.parse(made.engram.value)).toMatchObject({ own: { source: 'version', empty: true, sha256: null }, team: { teams: [{ id: 'a', version: null }], sha256: null } });
    expect(launchRecord({ runId: 'No Id', startedAt: seconds(7), layers, delivery: deliver(layers) })).toMatchObject({ ok: false, code: 'record' });
  });

  it('have a private copy of what they came from, which may hold secrets', () => {
    const made = personaSnapshot('bee', plainDefinition('Bee'), { TOKEN: 'x' });
    expect(made).toEqual({ ok: true, engram: { slug: 'mem/persona', value: '{"v":1,"persona":"bee","definition":{"display_name":"Bee"},"env_vars":{"TOKEN":"x"}}' } });
    expect(personaSnapshot('bee', plainDefinition('Bee'), { A: 'x'.repeat(66_000) })).toMatchObject({ ok: false, code: 'record' });
  });
});

describe('the facts of a start', () => {
  const INSTANCE = { agent, definitionId: 'bee', own: { systemPrompt: 'fat' } };
  const BEES: Team = { status: 'live', id: asTeamId('Bees') ?? expect.fail('no team id'), name: 'Bees', instructions: 'private', definitions: [], agents: [agent] };
  const saved = (subject: Subject, text: string) => signed(versionTemplate(subject, seal(versionPlaintext(text)), seconds(5)));
  const definition = () => {
    const written = writeDefinition({ ...plainDefinition('Bee'), systemPrompt: 'template' }, false);
    return signed(definitionTemplate({ slug: 'bee', body: written.ok ? written.body : '', isShared: false, createdAt: seconds(1) }));
  };
  const layersOf = async (relay: ReturnType<typeof memoryRelay>, instance: Parameters<typeof launchFacts>[1] = INSTANCE): Promise<string> => {
    const found = await launchFacts(ports(relay), instance);
    return found.ok ? composed(found.facts) : found.code;
  };

  it('follow the relay: a template, a version, a team, its version, its end', async () => {
    const relay = memoryRelay();
    expect(await layersOf(relay)).toBe('definition_unusable');
    relay.put(definition());
    expect(await layersOf(relay)).toBe('definition "template", team ""');
    expect(await layersOf(relay, { agent, own: { systemPrompt: 'fat' } })).toBe('legacy "fat", team ""');
    relay.put(saved({ type: 'agent', agent }, 'mine'));
    expect(await layersOf(relay)).toBe('version "mine", team ""');
    await writeTeam(ports(relay), BEES);
    expect(await layersOf(relay)).toBe('version "mine", team "private"');
    relay.put(saved({ type: 'team', team: BEES.id }, 'hum'));
    expect(await layersOf(relay)).toBe('version "mine", team "hum"');
    // At the next start its membership is gone; versions that are missing alone would not say so.
    const clock: Clock = { now: () => milliseconds(0), wake: () => () => undefined };
    expect(await deleteTeam(ports(relay), BEES.id, { clock, signal: new AbortController().signal })).toEqual({ status: 'done' });
    expect(await layersOf(relay)).toBe('version "mine", team ""');
  });

  it.each([0, 1, 2, 3, 4])('are unavailable where answer %d is missing', async (missing) => {
    let answers = 0;
    const relay = memoryRelay({ isComplete: () => answers++ !== missing });
    relay.put(definition());
    const whole = memoryRelay();
    await writeTeam(ports(whole), BEES);
    for (const event of whole.events()) relay.put(event);
    expect(await layersOf(relay)).toBe('unavailable');
    expect(await layersOf(relay)).toBe('definition "template", team "private"');
  });
});

describe('the plan of a start', () => {
  const BEES = asTeamId('Bees') ?? expect.fail('no team id');
  const ORDER: LaunchOrder = { agent, persona: 'bee', teams: [], overrides: {} };
  const saved = (subject: Subject, text: string, at = 5) => signed(versionTemplate(subject, seal(versionPlaintext(text)), seconds(at)));
  const definition = (more = {}) => {
    const written = writeDefinition({ ...plainDefinition('Bee'), systemPrompt: 'template', ...more }, false);
    return signed(definitionTemplate({ slug: 'bee', body: written.ok ? written.body : '', isShared: false, createdAt: seconds(1) }));
  };
  const instance = (content: object) => signed({ kind: 30_177, created_at: seconds(1), tags: [['d', agent]], content: JSON.stringify({ name: 'bee', ...content }) });
  const planOf = async (relay: ReturnType<typeof memoryRelay>, order: Partial<LaunchOrder> = {}) => planLaunch(ports(relay), { ...ORDER, ...order });

  it('has the definition, its session policy, and what stands in the place of a text', async () => {
    const relay = memoryRelay();
    relay.put(definition({ sessionPolicy: 'thread' }));
    const planned = await planOf(relay, { overrides: { own: { text: 'here', source: 'skep.yaml' } } });
    expect(planned).toMatchObject({
      ok: true,
      plan: { sessionPolicy: 'thread', definition: { slug: 'bee', id: relay.events()[0]?.id }, layers: { own: { text: 'template' } }, delivery: { standing: { system: 'here' }, own: { override: 'skep.yaml' } } },
    });
  });

  it('has the model of the definition, else of a fat event, else none; what this machine says stands in its place', async () => {
    const relay = memoryRelay();
    const modelOf = async (order: Partial<LaunchOrder> = {}) => {
      const planned = await planOf(relay, order);
      return planned.ok ? planned.plan.model : planned.code;
    };
    relay.put(definition({ model: 'large' }));
    expect(await modelOf()).toEqual({ source: 'definition', resolved: 'large', override: undefined, delivered: 'large' });
    expect(await modelOf({ overrides: { model: { text: 'small', source: 'skep.yaml' } } })).toEqual({ source: 'definition', resolved: 'large', override: 'skep.yaml', delivered: 'small' });
    relay.put(instance({ model: 'old' }));
    expect(await modelOf({ persona: undefined })).toEqual({ source: 'legacy', resolved: 'old', override: undefined, delivered: 'old' });
    const none = memoryRelay();
    none.put(definition({ model: '' }));
    const planned = await planOf(none);
    expect(planned.ok && planned.plan.model).toEqual({ source: 'none', resolved: undefined, override: undefined, delivered: undefined });
  });

  it('of an agent without a persona follows its own event', async () => {
    const relay = memoryRelay();
    const layerOf = async () => {
      const planned = await planOf(relay, { persona: undefined });
      return planned.ok ? `${planned.plan.layers.own.source.type} "${planned.plan.layers.own.text}"` : planned.code;
    };
    expect(await layerOf()).toBe('none ""');
    relay.put(instance({ system_prompt: 'fat' }));
    expect(await layerOf()).toBe('legacy "fat"');
    const linked = memoryRelay();
    linked.put(instance({ system_prompt: 'fat', persona_id: 'Bee' }));
    linked.put(definition());
    expect(await planOf(linked, { persona: undefined })).toMatchObject({ ok: true, plan: { layers: { own: { source: { type: 'definition' }, text: 'template' } } } });
    const broken = memoryRelay();
    broken.put(signed({ kind: 30_177, created_at: seconds(1), tags: [['d', agent]], content: '{}' }));
    expect(await planOf(broken, { persona: undefined })).toMatchObject({ ok: false, code: 'content' });
  });

  it('takes teams by the word of this machine: by record, by event, by version, and none that nobody knows', async () => {
    const relay = memoryRelay();
    relay.put(definition());
    expect(await planOf(relay, { teams: [BEES] })).toEqual({ ok: false, code: 'team_unknown', detail: 'teams: expected one that the owner has, found Bees' });
    relay.put(signed({ kind: 30_176, created_at: seconds(1), tags: [['d', 'Bees']], content: JSON.stringify({ name: 'The bees', instructions: 'event' }) }));
    expect(await planOf(relay, { teams: [BEES] })).toMatchObject({ ok: true, plan: { layers: { team: { text: 'event', teams: [{ id: 'Bees' }] } }, teams: [{ name: 'The bees' }] } });
    relay.put(saved({ type: 'team', team: BEES }, 'saved'));
    expect(await planOf(relay, { teams: [BEES] })).toMatchObject({ ok: true, plan: { layers: { team: { text: 'saved' } } } });
    await writeTeam(ports(relay), { status: 'live', id: BEES, name: 'Bees', definitions: [], agents: [agent] });
    const both = await planOf(relay, { teams: [BEES] });
    expect(both).toMatchObject({ ok: true, plan: { teams: [{ name: 'Bees' }], deletedTeams: [] } });
    const clock: Clock = { now: () => milliseconds(0), wake: () => () => undefined };
    expect(await deleteTeam(ports(relay), BEES, { clock, signal: new AbortController().signal })).toEqual({ status: 'done' });
    expect(await planOf(relay, { teams: [BEES] })).toMatchObject({ ok: true, plan: { teams: [], deletedTeams: ['Bees'], layers: { team: { text: '' } } } });
    relay.put(signed({ kind: 30_176, created_at: seconds(1), tags: [['d', 'other']], content: '{}' }));
    expect(await planOf(relay, { teams: [asTeamId('other') ?? BEES] })).toMatchObject({ ok: false, code: 'content' });
  });

  it.each([0, 1, 2, 3, 4])('is not known where answer %d is missing', async (missing) => {
    let answers = 0;
    const relay = memoryRelay({ isComplete: () => answers++ !== missing });
    relay.put(instance({ persona_id: 'bee' }));
    relay.put(definition());
    expect(await planOf(relay, { persona: undefined, teams: [BEES] })).toMatchObject({ ok: false, code: 'unavailable' });
  });
});

describe('launch records', () => {
  const RECORDS: readonly Engram[] = [{ slug: 'mem/launches/1', value: 'a' }, { slug: 'mem/launches/2', value: 'b' }];
  const clock: Clock = { now: () => milliseconds(0), wake: (_, callback) => { queueMicrotask(callback); return () => undefined; } };

  function world() {
    const [disk, relay] = [new Map(RECORDS.map((one) => [one.slug, one])), new Map<string, string>()];
    return {
      disk, relay,
      pending: { keep: async (one: Engram) => { disk.set(one.slug, one); }, forget: async (slug: string) => { disk.delete(slug); }, all: async () => [...disk.values()] },
      writer: { put: async ({ slug, value }: Engram) => { relay.set(slug, value); return 'stored' as const; } },
    };
  }

  it('are tried again until the relay has them, and only then forgotten', async () => {
    const { disk, relay, pending, writer } = world();
    let tries = 0;
    const lazy = { put: async (one: Engram) => (++tries % 4 === 0 ? writer.put(one) : 'unknown' as const) };
    expect(await writeRecords(pending, lazy, { clock, signal: new AbortController().signal })).toBe('done');
    expect([disk.size, [...relay].sort()]).toEqual([0, RECORDS.map(({ slug, value }) => [slug, value])]);
  });

  it('wait at the end of the program for the next one', async () => {
    const { disk, pending } = world();
    const stop = new AbortController();
    const deaf = { put: async () => { stop.abort(); return 'unknown' as const; } };
    expect(await writeRecords(pending, deaf, { clock, signal: stop.signal })).toBe('stopped');
    expect(disk.size).toBe(2);
  });

  it('are each on the relay once, whatever dies between', async () => {
    for (let diesAt = 0; ; diesAt += 1) {
      const { disk, relay, pending, writer } = world();
      let steps = 0;
      const dying = (): void => { if (steps++ === diesAt) throw new Error('killed'); };
      const mortal = {
        pending: { ...pending, forget: async (slug: string) => { dying(); await pending.forget(slug); dying(); }, all: async () => { dying(); return pending.all(); } },
        writer: { put: async (one: Engram) => { dying(); const put = await writer.put(one); dying(); return put; } },
      };
      const died = await writeRecords(mortal.pending, mortal.writer, { clock, signal: new AbortController().signal }).then(() => false, () => true);
      // What is forgotten is stored.
      for (const { slug } of RECORDS) expect(disk.has(slug) || relay.has(slug)).toBe(true);
      expect(await writeRecords(pending, writer, { clock, signal: new AbortController().signal })).toBe('done');
      expect([disk.size, relay.size]).toEqual([0, 2]);
      if (!died) break;
      expect(diesAt).toBeLessThan(50);
    }
  });
});
