import { flag, list, object, oneOf, orNull, text, whole } from '../../../terminal/output/fields.ts';

/** Something that psd2 has begun at the bank and not ended. */
const begunThing = object({
  what: text('what it is: the kind of consent, or the payment product'),
  id: orNull(
    text("the bank's id; null: psd2 does not know it, because the bank's answer was lost or said nothing"),
  ),
  requestId: text('the X-Request-ID with which psd2 began it'),
  at: text('when psd2 began it'),
  bank: text('base URL of the bank'),
});

export const finding = object({
  status: oneOf(
    ['differs', 'same', 'said', 'unknown'],
    'the bank differs from what the file or its platform said, or not; no field says it; not found out',
  ).inPipe({ kind: 'state' }),
  field: text('field of the bank file, or what no field says').inPipe(),
  value: orNull(text('its value, as JSON; null if it was not found out')).inPipe(),
  was: orNull(text('its value before, as JSON; null without one')).inPipe(),
  asked: orNull(text('method and path of the question; null if psd2 did not ask')).inPipe(),
  answered: orNull(text('what the bank answered; null if psd2 did not ask')).inPipe(),
  reason: orNull(text('why it was not found out; null if it was')).inPipe(),
});

/** What the command prints. */
export const learned = object({
  ok: flag('true if a consent could be begun, so that customers can be asked'),
  bank: text('base URL of the bank that was asked'),
  file: orNull(text('path of the bank file; null if psd2 wrote none')),
  extends: text('platform or file that it extends; standard if it extends none'),
  calls: whole('number of questions'),
  findings: list(
    finding,
    'the fields that decide what a refused payment proves first, then what differs; what was not found out last',
  ),
  left: list(
    begunThing,
    'what psd2 began and could not end. Nobody has a link to it, so nobody can authorise it',
  ),
});
