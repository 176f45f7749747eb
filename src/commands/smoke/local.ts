import type { SmokeWarning } from '../../smoke/result.ts';
import { checkCertificates, checkChains, checkSigner } from '../checks/certificates.ts';
import { checkPath, checkProbe } from '../checks/connection.ts';
import { Diagnosis } from '../checks/diagnosis.ts';
import type { Context } from '../context.ts';
import { checkMachine } from '../doctor/doctor.ts';
import { type Found, foundBy, missing, type Smoke } from './smoke.ts';

const DAY_MS = 86_400_000;

/** Step 1: what the doctor checks without the bank. */
export async function settings({ context }: Smoke): Promise<Found> {
  const diagnosis = new Diagnosis();
  await checkMachine(context, diagnosis);
  return foundBy(diagnosis);
}

/** Step 2 */
export async function certificates({ context, plan, ends }: Smoke): Promise<Found> {
  const diagnosis = new Diagnosis();
  const profile = await context.unsealed();
  const keys = await context.keys();
  const soon: SmokeWarning[] = [];
  const note = (name: string, notAfter: string) => {
    const days = daysUntil(context, notAfter);
    const message = `${name} ends in ${days} ${days === 1 ? 'day' : 'days'}`;
    // One that has ended fails.
    if (days >= 0 && days < plan.withinDays) soon.push({ code: 'certificate_ends', message });
    if (name === 'QWAC') ends.qwac = notAfter;
    if (name === 'QSealC') ends.qsealc = notAfter;
  };
  await diagnosis.add('QWAC', () => checkCertificates(context, profile, keys, { days: 0, ends: note }));
  await diagnosis.make('chain', () => checkChains(context, profile, keys));
  await diagnosis.make('signer', () => checkSigner(context, profile, keys));
  const left = [ends.qwac, ends.qsealc].flatMap((end) => (end === null ? [] : [daysUntil(context, end)]));
  const { warnings = [], ...result } = foundBy(
    diagnosis,
    left.length > 0 ? `${Math.min(...left)} days left` : undefined,
  );
  return { ...result, warnings: [...soon, ...warnings] };
}

/** Step 3: the call of the doctor, as far as it shows the way to the bank. */
export async function connection(smoke: Smoke): Promise<Found> {
  const { context, ends, plan } = smoke;
  const diagnosis = new Diagnosis();
  const begun = context.world.now().getTime();
  const heard = await checkPath(context, diagnosis);
  if (typeof heard !== 'string') smoke.said = heard;
  const [call] = smoke.observed;
  const { protocol = null, certificateEnds = null } = call?.tls ?? {};
  if (certificateEnds) ends.bank = certificateEnds.toISOString();
  const clock = diagnosis.checks.find(({ name }) => name === 'clock');
  const days = certificateEnds && daysUntil(context, certificateEnds.toISOString());
  const details = [
    protocol?.replace('v', ' '),
    clock?.status === 'ok' && `clock ${clock.detail.replace(/ (behind|ahead of) the bank/, '')}`,
    days !== null && `the bank's certificate ${days} days`,
  ];
  const result = foundBy(diagnosis, details.filter(Boolean).join(', '));
  if (days !== null && days < plan.withinDays)
    result.warnings?.push({
      code: 'bank_certificate',
      message: `the bank's certificate ends in ${days} days`,
    });
  // The rest of the call's time belongs to the next step.
  const rest = (call?.milliseconds ?? 0) - (call?.connectMs ?? 0);
  return { ...result, milliseconds: Math.max(0, context.world.now().getTime() - begun - rest) };
}

/** Step 4: whether the bank accepts the signature of the call. */
export async function signature(smoke: Smoke): Promise<Found> {
  const { context, said: heard, observed } = smoke;
  if (!heard) return missing('the connection was not tested');
  const diagnosis = new Diagnosis();
  await checkProbe(context, diagnosis, heard);
  const [call] = observed;
  return { ...foundBy(diagnosis), milliseconds: (call?.milliseconds ?? 0) - (call?.connectMs ?? 0) };
}

/** Whole days until a time. */
export function daysUntil({ world }: Context, time: string): number {
  return Math.floor((Date.parse(time) - world.now().getTime()) / DAY_MS);
}
