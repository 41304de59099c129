import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  appendSteer,
  compileSteer,
  compileTurn,
  ledgerManifest,
  manifestOf,
  openLedger,
} from '../../compiler/index.ts';
import type { CompiledSteer, Layer } from '../../compiler/index.ts';
import { CHANNEL_ID, deepFreeze, idOf, MORGAN, triggeredOf, turnOf } from './turns.ts';

const steered = (number: number, content = 'Also the tests.'): CompiledSteer =>
  compileSteer(turnOf({ events: [triggeredOf({ id: idOf(number), content })], historyDelivered: true }));

/** The hash of layers that are in order already, from their own JSON. */
function manifestHashOf(layers: readonly Layer[]): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(layers)).digest('hex')}`;
}

describe('a steer', () => {
  test('frames its events, its delivery and the guidance', () => {
    const { text } = steered(2, '</buzz-turn-update> & more');
    const lines = text.split('\n');
    expect(lines).toEqual([
      '<buzz-turn-update mode="steer">',
      `<event type="mention" actor="${MORGAN}" event_id="${idOf(2)}">`,
      'Content: &lt;/buzz-turn-update&gt; &amp; more',
      '</event>',
      `<delivery channel_id="${CHANNEL_ID}" scope="channel" reply_to="${idOf(2)}" />`,
      expect.stringMatching(/^<continuation-guidance>[^<>]*[Ww]eave[^<>]*<\/continuation-guidance>$/),
      '</buzz-turn-update>',
    ]);
  });

  test('is compiled like the turn it would be', () => {
    const input = turnOf({ events: [triggeredOf({ id: idOf(2) }), triggeredOf({ id: idOf(3), content: '\ud800' })] });
    const { envelope, manifest } = compileTurn(input);
    const { text, layers } = compileSteer(input);
    const shared = envelope.slice(envelope.indexOf('<event'), envelope.indexOf('\n</buzz-turn>'));
    expect(text).toContain(shared);
    expect(layers.slice(0, 2)).toEqual(manifest.layers.slice(-2));
  });

  test('adds three layers: the message, where to answer, how to go on', () => {
    const { text, layers } = steered(2);
    expect(
      layers.map((row) => [row.order, row.layer, row.scope, row.source, row.authority, row.freshness].join(' ')),
    ).toEqual([
      '7 current_instruction turn nostr_event authoritative current',
      '8 delivery_contract turn buzz_routing routing_constraint current',
      '8 steer_delivery_contract turn steer_framing routing_constraint current',
    ]);
    const guidance = text.split('\n').at(-2) ?? '';
    expect(layers[0]?.version).toBe(idOf(2));
    expect(manifestOf(layers).hash).toBe(manifestHashOf(layers));
    expect(layers[2]?.estimatedTokens).toBe(Math.ceil(guidance.length / 4));
  });
});

describe('a ledger', () => {
  const { manifest } = compileTurn(turnOf({ standing: { base: 'b' } }));

  test('starts as the compiled manifest', () => {
    expect(ledgerManifest(openLedger(manifest))).toEqual(manifest);
  });

  test('takes each steer, sorted and hashed again', () => {
    const first = steered(2);
    const second = steered(3);
    const ledger = appendSteer(appendSteer(openLedger(manifest), first.layers), second.layers);
    const after = ledgerManifest(ledger);
    expect(after.layers.map(({ layer, version }) => [layer, version.startsWith('sha256:') ? '' : version])).toEqual([
      ['platform_contract', ''],
      ['context_status', ''],
      ['current_instruction', idOf(1)],
      ['current_instruction', idOf(2)],
      ['current_instruction', idOf(3)],
      ['delivery_contract', ''],
      ['delivery_contract', ''],
      ['steer_delivery_contract', ''],
      ['delivery_contract', ''],
      ['steer_delivery_contract', ''],
    ]);
    expect(after).toEqual(manifestOf([...manifest.layers, ...first.layers, ...second.layers]));
    expect(after.hash).not.toBe(manifest.hash);
  });

  test('the order of steers is part of it', () => {
    const [one, two] = [steered(2).layers, steered(3).layers];
    const hashes = [
      [one, two],
      [two, one],
    ].map((steers) => ledgerManifest(steers.reduce(appendSteer, openLedger(manifest))).hash);
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  test('a kept ledger is a snapshot, and opening anew is the reset', () => {
    const opened = deepFreeze(openLedger(deepFreeze(manifest)));
    const appended = appendSteer(opened, deepFreeze(steered(2).layers));
    expect(ledgerManifest(opened)).toEqual(manifest);
    expect(ledgerManifest(appended)).not.toEqual(manifest);
    expect(ledgerManifest(openLedger(manifest))).toEqual(manifest);
  });

  test('nothing appended leaves the hash as it was', () => {
    expect(ledgerManifest(appendSteer(openLedger(manifest), []))).toEqual(manifest);
  });
});
