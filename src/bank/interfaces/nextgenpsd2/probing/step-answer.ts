import { isRecord } from '../../../../domain/json.ts';

/** Whether an answer has the envelope of the step interface, which no bank of NextGenPSD2 sends. */
export function isStepAnswer(json: unknown): boolean {
  if (!isRecord(json) || !isRecord(json.result)) return false;
  return typeof json.result.outcome === 'string' && !('tppMessages' in json);
}
