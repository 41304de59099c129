/** Notes as log lines: what an operator wants to see at `info`, and the rest at `debug`. */
import { unreachable } from '../model/index.ts';
import type { Log } from '../model/index.ts';
import type { Note, Observer } from './notes.ts';

export function noteLogger(log: Log): Observer {
  return (note: Note) => {
    const { type, ...fields } = note;
    switch (type) {
      case 'refused':
        // These two may be meant for the agent, and nobody would see why it is silent.
        if (note.reason === 'hop-cap') return log.warn('agents answer each other; this message is not answered', fields);
        if (note.unanswered) return log.warn('message refused because the relay did not tell who wrote it', fields);
        return log.debug('message not for the agent', fields);
      case 'accepted':
        return log.debug('message accepted', fields);
      case 'process_started':
        return log.info('agent process started', fields);
      case 'process_ended':
        return log.info('agent process ended', fields);
      case 'process_failed':
        return log.error('agent process cannot be started', fields);
      case 'turn_started':
        return log.info('turn started', fields);
      case 'steered':
        return log.info('message for a turn under way', fields);
      case 'turn_ended':
        return log.info('turn ended', fields);
      case 'limited':
        return log.warn('the provider of the model takes no more requests for now', fields);
      case 'operator_turn_started':
        return log.info('turn of the operator started', fields);
      case 'operator_turn_ended':
        return log.info('turn of the operator ended', fields);
      case 'gave_up':
        return log.error('message given up', fields);
      default:
        return unreachable(type);
    }
  };
}
