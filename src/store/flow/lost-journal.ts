import { Psd2Error } from '../../errors.ts';
import { kindOf } from './kinds.ts';

/** The error for a reference whose transfer has no journal any more. The transfer may have been paid. */
export function journalIsMissing(reference: string, flow: string, journal: string): Psd2Error {
  return new Psd2Error(
    'config',
    `The journal ${journal} is missing, and its transfer has the reference ${JSON.stringify(reference)}`,
    {
      hint: 'That transfer may have been paid, so its reference stays taken. Restore the journal from a backup, or use another --reference.',
      flow,
    },
  );
}

/**
 * The error for a flow whose journal lacks events that once were in it, as after the restore of an old backup.
 *
 * @param journal its file, or where its events are
 */
export function journalIsOlder(flow: string, journal: string): Psd2Error {
  return new Psd2Error('config', `The journal ${journal} is older than what psd2 knows about ${flow}`, {
    hint: 'The flow may have been executed since, so psd2 sends nothing for it. Restore the newest journal from a backup. See the flow as it was:',
    next: [[kindOf(flow) ?? 'transfer', 'show', flow]],
    flow,
  });
}
