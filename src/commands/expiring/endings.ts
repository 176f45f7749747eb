import type { X509Certificate } from 'node:crypto';
import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { type Consent, consentEnd } from '../../domain/consent.ts';
import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import { readPem } from '../../store/machine/settings.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { PAIR_SETTINGS } from '../open/keys.ts';
import type { ending } from './shape.ts';

/** Something that ends, and the command that renews it. */
export type Ending = Printed<typeof ending>;

export const DAY_MS = 24 * 60 * 60 * 1000;

/** What ends before a time, soonest first. This includes what has already ended. */
export function endingBefore(endings: readonly Ending[], time: Date): Ending[] {
  return endings
    .filter(({ endsAt }) => Date.parse(endsAt) < time.getTime())
    .sort((a, b) => Date.parse(a.endsAt) - Date.parse(b.endsAt));
}

/**
 * Everything of the profile that ends: certificates, the logins of all customers, and the consents of logged-in customers.
 *
 * @throws Psd2Error `config`, `certificate` if psd2 cannot read one of them
 */
export async function allEndings(context: Context): Promise<Ending[]> {
  return [
    ...(await certificateEndings(context)),
    ...(await loginEndings(context)),
    ...(await consentEndings(context)),
  ];
}

/** The certificates of the profile. If a file has several, the last one to expire decides. */
export async function certificateEndings(context: Context): Promise<Ending[]> {
  const profile = await context.unsealed();
  const keys = await context.keys();
  const found: [name: string, certificate: X509Certificate | undefined][] = [];
  for (const name of ['QWAC', 'QSealC'] as const) {
    if (!profile.settings[PAIR_SETTINGS[name].certificate]) continue;
    const { certificate } = await keys.read(name);
    const [own] = (await readCertificateFile(Buffer.from(certificate), undefined, `The ${name} certificate`))
      .certificates;
    found.push([name, own]);
  }
  for (const [setting, name] of OTHERS) {
    const pem = readPem(profile, setting);
    if (pem === undefined) continue;
    const { certificates } = await readCertificateFile(Buffer.from(pem), undefined, name);
    found.push([name, certificates.sort((a, b) => endOf(b) - endOf(a))[0]]);
  }
  const next =
    profile.name === ENVIRONMENT_PROFILE
      ? ['psd2', 'cert', 'check', '<new certificate>']
      : ['psd2', 'profile', 'edit', profile.name];
  return found.flatMap(([name, certificate]) =>
    certificate
      ? [
          {
            kind: 'certificate',
            name,
            customerId: null,
            endsAt: new Date(endOf(certificate)).toISOString(),
            next,
          },
        ]
      : [],
  );
}

const OTHERS = [
  ['ca', 'CA'],
  ['bankSigningCertificate', 'bank signing certificate'],
] as const;

function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}

/** The logins of all customers. psd2 renews the application's own login without help. */
async function loginEndings(context: Context): Promise<Ending[]> {
  const { tokens } = await context.store();
  const endings: Ending[] = [];
  for (const customerId of await tokens.customers()) {
    const login = await tokens.login(customerId);
    // Without a refresh token the login ends with its access token.
    const endsAt = login?.refreshTokenExpiresAt ?? login?.accessTokenExpiresAt;
    const next = [...psd2(context), 'auth', 'login'];
    if (endsAt) endings.push({ kind: 'login', name: 'refresh token', customerId, endsAt, next });
  }
  return endings;
}

/** The newest confirmed consent for each category and product of each logged-in customer. */
async function consentEndings(context: Context): Promise<Ending[]> {
  const { tokens, flows } = await context.store();
  const customers = new Set(await tokens.customers());
  const known = new Set<string>();
  const endings: Ending[] = [];
  for await (const consent of flows.list('consent')) {
    const end = consentEnd(consent, context.world.now());
    if (!end || !customers.has(consent.customerId)) continue;
    for (const { name, products, outcome } of consent.categories) {
      if (outcome === false) continue;
      const newest = products.filter((product) => isNew(known, consent, name, product));
      if (newest.length === 0) continue;
      const what = ['--category', name, ...newest.flatMap((product) => ['--product', product])];
      const next = [...psd2(context), '--customer', consent.customerId, 'consent', 'request', ...what];
      endings.push({ kind: 'consent', name, customerId: consent.customerId, endsAt: end.expiresAt, next });
    }
  }
  return endings;
}

/** Consents come newest first, and a newer one replaces an older one for the same category and product. */
function isNew(known: Set<string>, { customerId }: Consent, category: string, product: string): boolean {
  const key = `${customerId} ${category} ${product}`;
  if (known.has(key)) return false;
  known.add(key);
  return true;
}

/** The profile of the environment needs no name. */
function psd2(context: Context): string[] {
  const { name } = context.profile();
  return name === ENVIRONMENT_PROFILE ? ['psd2'] : ['psd2', '--profile', name];
}
