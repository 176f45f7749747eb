import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { clockAnswer } from '../../sandbox/control/answers.ts';
import { control } from '../../sandbox/control/control-client.ts';
import { object, text, whole } from '../../terminal/output/fields.ts';
import { examples, verb } from '../declare.ts';
import { requireRunning } from './running.ts';

const shape = object({
  time: text("the bank's time, ISO 8601").as("Bank's time"),
  aheadSeconds: whole('how far it is ahead of the real time').as('Ahead').written(aheadText),
});

/** `psd2 sandbox clock`: shows the bank's time, or moves it forward. */
export const clock = verb(
  {
    prints: { what: "the bank's time", shape },
    help: `
Tokens and consents end by the bank's time, and bookings and holidays follow it. The dates of requests and the
certificates follow the real time. It only moves forward; psd2 sandbox reset takes it back.
${examples('psd2 sandbox clock', 'psd2 sandbox clock +90d', 'psd2 sandbox clock 2027-12-24T09:00:00+01:00')}`,
  },
  (command) =>
    command
      .argument('[time]', 'how far to move it, for example +90d or +12h, or a time with its zone')
      // -5d is no option: it has an answer of its own.
      .allowUnknownOption(),
  async (context, time) => {
    const order = time === undefined ? undefined : readMove(time);
    const running = await requireRunning(context);
    const call = order
      ? { method: 'POST' as const, path: '/clock', body: order }
      : { method: 'GET' as const, path: '/clock' };
    context.output.record(await control(running, call, clockAnswer), shape);
  },
);

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** Ten years. */
const MAX_SECONDS = 3650 * 86_400;

/** @throws Psd2Error `usage` */
function readMove(text: string): { forwardSeconds: number } | { time: string } {
  const [, number = '', unit = ''] = /^\+(\d{1,9})([smhd])$/.exec(text) ?? [];
  const forwardSeconds = Number(number) * (SECONDS[unit] ?? 0);
  if (forwardSeconds > 0 && forwardSeconds <= MAX_SECONDS) return { forwardSeconds };
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return { time: text };
  if (/^-\d+[smhd]$/.test(text))
    throw new Psd2Error('usage', "The bank's time only moves forward", {
      hint: 'A reset takes the bank back to its start, and its time to the real one:',
      next: [['sandbox', 'reset']],
    });
  if (text.startsWith('-'))
    throw new Psd2Error('usage', `Unknown option '${text}'`, {
      hint: 'Add --help to see how the command is used.',
    });
  throw new Psd2Error('usage', `${JSON.stringify(text)} is not a time of the bank`, {
    hint: 'Write how far to move it, at most +3650d: +90d, +12h, +30m, +10s. Or a time with its zone: 2027-12-24T09:00:00+01:00.',
  });
}

/** `90 d 1 h`, from its two largest units. */
function aheadText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor((seconds % 86_400) / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'min'],
    [seconds % 60, 's'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return shown.length === 0 ? 'not' : shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}
