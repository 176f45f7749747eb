import type { SmokeWarning } from '../../smoke/result.ts';
import { certificates } from '../checks/certificates.ts';
import { type Check, examine, openSubject } from '../checks/check.ts';
import { connection } from '../checks/connection.ts';
import { Diagnosis } from '../checks/diagnosis.ts';
import { keys } from '../checks/keys.ts';
import { settings } from '../checks/settings.ts';
import { signature } from '../checks/signature.ts';
import { store } from '../checks/store.ts';
import type { Context } from '../context.ts';
import { type Found, foundBy, missing, type Smoke } from './smoke.ts';

const DAY_MS = 86_400_000;

/** Makes checks of a step. Both steps of the bank's answer look at the same one. */
async function diagnose(smoke: Smoke, ...checks: readonly Check[]): Promise<Diagnosis> {
  const diagnosis = new Diagnosis();
  // The step says itself what ends soon.
  const subject = openSubject(smoke.context, diagnosis, 0);
  subject.reply = smoke.said;
  await examine(subject, checks);
  smoke.said = subject.reply;
  return diagnosis;
}

/** Step 1: what the doctor checks without the bank. */
export async function testSettings(smoke: Smoke): Promise<Found> {
  return foundBy(await diagnose(smoke, settings, store));
}

/** Step 2 */
export async function testCertificates(smoke: Smoke): Promise<Found> {
  const { context, plan, ends } = smoke;
  const diagnosis = await diagnose(smoke, certificates, keys);
  const soon: SmokeWarning[] = [];
  for (const [name, notAfter] of diagnosis.ends) {
    const days = daysUntil(context, notAfter);
    const message = `${name} ends in ${inDays(days)}`;
    // One that has ended fails.
    if (days >= 0 && days < plan.withinDays) soon.push({ code: 'certificate_ends', message });
    if (name === 'QWAC') ends.qwac = notAfter;
    if (name === 'QSealC') ends.qsealc = notAfter;
  }
  const left = [ends.qwac, ends.qsealc].flatMap((end) => (end === null ? [] : [daysUntil(context, end)]));
  const { warnings = [], ...result } = foundBy(
    diagnosis,
    left.length > 0 ? `${inDays(Math.min(...left))} left` : undefined,
  );
  return { ...result, warnings: [...soon, ...warnings] };
}

/** Step 3: the call of the doctor, as far as it shows the way to the bank. */
export async function testConnection(smoke: Smoke): Promise<Found> {
  const { context, ends, plan } = smoke;
  const begun = context.world.now().getTime();
  const diagnosis = await diagnose(smoke, connection);
  const [call] = smoke.observed;
  const { protocol = null, certificateEnds = null } = call?.tls ?? {};
  if (certificateEnds) ends.bank = certificateEnds.toISOString();
  const clock = diagnosis.checks.find(({ name }) => name === 'clock');
  const days = certificateEnds && daysUntil(context, certificateEnds.toISOString());
  const details = [
    protocol?.replace('v', ' '),
    clock?.status === 'ok' && `clock ${clock.detail.replace(/ (behind|ahead of) the bank/, '')}`,
    days !== null && `the bank's certificate ${inDays(days)}`,
  ];
  const result = foundBy(diagnosis, details.filter(Boolean).join(', '));
  if (days !== null && days < plan.withinDays)
    result.warnings?.push({
      code: 'bank_certificate',
      message: `the bank's certificate ends in ${inDays(days)}`,
    });
  // The rest of the call's time belongs to the next step.
  const rest = (call?.milliseconds ?? 0) - (call?.connectMs ?? 0);
  return { ...result, milliseconds: Math.max(0, context.world.now().getTime() - begun - rest) };
}

/** Step 4: whether the bank accepts the signature of the call. */
export async function testSignature(smoke: Smoke): Promise<Found> {
  const { said: reply, observed } = smoke;
  if (!reply) return missing('the connection was not tested');
  const diagnosis = await diagnose(smoke, signature);
  const [call] = observed;
  return { ...foundBy(diagnosis), milliseconds: (call?.milliseconds ?? 0) - (call?.connectMs ?? 0) };
}

/** `1 day`, `2 days` */
export function inDays(count: number): string {
  return `${count} ${count === 1 ? 'day' : 'days'}`;
}

/** Whole days until a time. */
export function daysUntil({ world }: Context, time: string): number {
  return Math.floor((Date.parse(time) - world.now().getTime()) / DAY_MS);
}
