import { STEP_IDS } from '../../smoke/steps.ts';
import {
  flag,
  list,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  whole,
} from '../../terminal/output/fields.ts';

const call = object({
  method: text('GET, POST, PUT or DELETE'),
  route: text('the path, with names in braces in place of ids'),
  status: orNull(whole('HTTP status; null if there was no usable answer')),
  milliseconds: whole('time from the first attempt to send to the end of the answer'),
  tppRequestId: text('the id that psd2 sent'),
  requestId: orNull(text("the id of the bank's answer")),
});

/** The error object of every command. */
const error = object(
  {
    code: text('the kind of error'),
    message: text('what happened'),
    exitCode: whole('exit code of this error'),
    hint: orNull(text('what to do')),
    next: list(list(text()), 'the commands to run next, each as its arguments'),
    flow: optional(orNull(text('local id of the flow'))),
    httpStatus: optional(orNull(whole('HTTP status of the answer'))),
    bankCode: optional(orNull(text("the bank's code"))),
    requestId: optional(orNull(text("the id of the bank's answer"))),
    tppRequestId: optional(orNull(text('the id that psd2 sent'))),
    transactionId: optional(orNull(text('the id of the transaction'))),
  },
  'why it failed',
);

const warning = object({ code: text('the kind of warning'), message: text('the warning in words') });

const step = object({
  id: oneOf(STEP_IDS, 'the step'),
  status: oneOf(
    ['pass', 'warn', 'fail', 'skip', 'known'],
    'how it ended; known: --known says that it may fail',
  ),
  flaky: flag('true if it passed only when it was tried again'),
  milliseconds: whole('how long it took'),
  calls: list(call, 'its calls to the bank'),
  error: orNull(error),
  warnings: list(warning, 'what it warns about'),
  detail: orNull(text('what it found')),
  reason: orNull(text('why it was skipped')),
});

const drift = object({
  id: text('names the finding for psd2 smoke shapes accept'),
  answer: text('method, route and status'),
  path: text('the field'),
  severity: oneOf(['breaking', 'warning', 'info'], 'what it means for psd2'),
  message: text('what is different'),
});

/** A smoke test, for programs. */
export const smokeRun = object({
  run: text('id of the run, for psd2 log --run'),
  profile: text('profile'),
  environment: orNull(text('environment of the profile')),
  interface: orNull(text("kind of the bank's interface; null if it is not known")),
  bank: orNull(text('host and port of the bank')),
  version: text('version of psd2'),
  startedAt: time('when it began'),
  milliseconds: whole('how long it took'),
  result: oneOf(['pass', 'warn', 'fail'], 'the result'),
  exitCode: whole('exit code of psd2 smoke'),
  steps: list(step, 'all steps, in their order'),
  drift: list(drift, "what is different in the form of the bank's answers"),
  ends: object({
    qwac: orNull(time('when the QWAC ends')),
    qsealc: orNull(time('when the QSealC ends')),
    bank: orNull(time("when the bank's certificate ends")),
    consent: orNull(time('when the consent ends')),
  }),
  lastSuccessAt: orNull(time('when the last run of the profile with exit code 0 began')),
  next: list(list(text()), 'the commands to run next'),
});
