import { expect, it } from 'vitest';
import { isProgress } from '../../src/acp/progress.ts';

it.each([
  ['agent_message_chunk', true], ['agent_thought_chunk', true], ['tool_call', true], ['tool_call_update', true], ['plan', true],
  ['usage_update', true], ['a_kind_from_the_future', true], ['session_info_update', false], ['available_commands_update', false],
  ['current_mode_update', false], ['config_option_update', false], ['user_message_chunk', false],
])('an update of the kind %s: the turn goes on: %s', (sessionUpdate, goesOn) => {
  expect(isProgress('session/update', { sessionId: 's', update: { sessionUpdate } })).toBe(goesOn);
});

it.each([['session/request_permission', {}], ['fs/read_text_file', {}], ['_goose/unstable/session/update', {}], ['session/update', null], ['session/update', { update: null }]])(
  '%s with %j is of the turn',
  (method, params) => {
    expect(isProgress(method, params)).toBe(true);
  },
);
