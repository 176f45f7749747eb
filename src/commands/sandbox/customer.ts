import { Psd2Error } from '../../errors.ts';
import { customerAnswer, revokedAnswer, tanAnswer } from '../../sandbox/control/answers.ts';
import { control } from '../../sandbox/control/control-client.ts';
import type { RunningSandbox } from '../../sandbox/folder/running.ts';
import { list, object, text, whole } from '../../terminal/output/fields.ts';
import { examples, type Noun, verb } from '../declare.ts';
import { requireRunning, sandboxFolderOf } from './running.ts';

const walk = object({
  pages: list(text(), 'what the customer did on each page'),
  finalUrl: text("where the customer's browser ended, or would go"),
});

/** `psd2 sandbox customer <url>`: plays the customer, so that a whole flow can run in a pipeline. */
const play = verb(
  {
    prints: { what: 'what the customer did', shape: walk },
    help: examples(
      'PSD2_BROWSER="psd2 sandbox customer" psd2 --profile sandbox auth login',
      "psd2 sandbox customer --refuse 'http://127.0.0.1:8444/login?request=...'",
    ),
  },
  (command) =>
    command
      .argument('<url>')
      .option('--refuse', 'refuse on the first page that allows it')
      .option('--user <name>', 'user who logs in (default: anna)'),
  async (context, url, { refuse = false, user }) => {
    const { terminal, world, output } = context;
    const { runningSandbox } = await import('../../sandbox/folder/running.ts');
    const { playCustomer } = await import('../../sandbox/player/play-customer.ts');
    const near = onThisComputer(url, await runningSandbox(sandboxFolderOf(context)));
    const { pages, finalUrl, opened } = await playCustomer(near, {
      refuse,
      signal: world.signal,
      ...(user !== undefined && { user }),
    });
    const end = opened ? `Back at ${finalUrl}` : `A browser would go to ${finalUrl}`;
    if (output.format === 'table') terminal.say([...pages, end].join('\n'));
    else output.record({ pages, finalUrl }, walk);
  },
);

/** The same page on the loopback interface, if it is one that the sandbox of this computer shows to others. */
function onThisComputer(url: string, running: RunningSandbox | undefined): string {
  if (running?.outsideUrl === undefined || !url.startsWith(`${running.outsideUrl}/`)) return url;
  return `${running.customerSiteUrl}${url.slice(running.outsideUrl.length)}`;
}

const shown = object({
  user: text('name to log in with').as('User'),
  password: text('its password').as('Password'),
  customerId: text('customer id').as('Customer'),
  name: text('name of the customer').as('Name'),
  accounts: list(text(), 'their ids')
    .as('Accounts')
    .written((accounts) => accounts.join(', ')),
});

const USER = 'user or customer id';

/** @throws Psd2Error `sandbox` if it is not running, or another customer has the user */
const add = verb(
  {
    prints: { what: 'a customer of the sandbox', shape: shown },
    help: `
The customer has a current account with 1000.00. A seed file has customers with other accounts: sandbox start --seed.
${examples('psd2 sandbox customer add dora')}`,
  },
  (command) => command.argument('<user>', 'small letters, digits and hyphens'),
  async (context, user) => {
    const running = await requireRunning(context);
    const call = { method: 'POST' as const, path: '/customers', body: { user } };
    context.output.record(await control(running, call, customerAnswer), shown);
  },
);

/** @throws Psd2Error `sandbox` if it is not running, or has no such customer */
const reset = verb(
  {
    prints: { what: 'a customer of the sandbox', shape: shown },
    help: `
The accounts are as at the start of the sandbox. Tokens, consents, payments and faults of the customer are gone.
${examples('psd2 sandbox customer reset bruno')}`,
  },
  (command) => command.argument('<customer>', USER),
  async (context, name) => {
    const running = await requireRunning(context);
    const path = `/customers/${encodeURIComponent(name)}/reset`;
    const done = await control(running, { method: 'POST', path }, customerAnswer);
    context.output.record(done, shown);
  },
);

const revoked = object({ revoked: whole('number of consents that ended, at both doors') });

/** @throws Psd2Error `sandbox` if it is not running, or has no such customer */
const revokeConsent = verb(
  {
    prints: { what: 'number of revoked consents', shape: revoked },
    help: `
The customer withdraws all consents at the bank, at both doors. The client learns it at its next call.
${examples('psd2 sandbox customer revoke-consent anna')}`,
  },
  (command) => command.argument('<customer>', USER),
  async (context, name) => {
    const running = await requireRunning(context);
    const path = `/customers/${encodeURIComponent(name)}/revoke-consents`;
    const done = await control(running, { method: 'POST', path }, revokedAnswer);
    if (context.output.format === 'table') context.terminal.say(`Consents revoked: ${done.revoked}.`);
    else context.output.record(done, revoked);
  },
);

const shownTan = object({
  method: text('name of the method'),
  text: text("what the customer's device shows"),
  tan: text('the TAN'),
});

/** The time between two looks at the device. */
const LOOK_MS = 200;
/** As long as somebody looks for an SMS. */
const WAIT_MS = 60_000;

/** @throws Psd2Error `sandbox` if it is not running, has no such customer, or no TAN comes within a minute */
const tan = verb(
  {
    prints: { what: "the TAN on a customer's device", shape: shownTan },
    help: `
Reads the newest valid TAN once, and waits for it for a minute. The PIN of a customer is pin- and the user: pin-anna.
A shell gives it to a payment: --otp-file <(psd2 sandbox customer tan anna).
${examples('psd2 sandbox customer tan anna')}`,
  },
  (command) => command.argument('<user>'),
  async (context, user) => {
    const { output, world } = context;
    const running = await requireRunning(context);
    const path = `/customers/${encodeURIComponent(user)}/read-tan`;
    for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
      const read = await control(running, { method: 'POST', path }, tanAnswer);
      if (read) {
        if (output.format === 'table') output.text(read.tan);
        else output.record(read, shownTan);
        return;
      }
      await world.sleep(LOOK_MS);
    }
    throw new Psd2Error('sandbox', `No TAN came for ${user} within a minute`, {
      hint: 'The bank sends one once the PIN was right and a method is chosen. The console shows the devices.',
    });
  },
);

/** `psd2 sandbox customer`: plays a customer, and changes what the bank knows of one. */
export const customer: Noun = {
  standard: 'play',
  declare: (command) =>
    command.addHelpText(
      'after',
      '\n`psd2 sandbox customer <url>` is `psd2 sandbox customer play <url>`.\n' +
        examples('psd2 sandbox customer add dora', 'psd2 sandbox customer reset bruno'),
    ),
  commands: {
    play: {
      description:
        "play the customer without a browser: open the bank's page at this address and submit its forms",
      load: async () => play,
    },
    add: { description: 'add a customer to the bank', load: async () => add },
    reset: { description: 'reset what the bank knows of a customer', load: async () => reset },
    tan: {
      description: 'read the TAN that the bank sent to a customer, with embedded SCA',
      load: async () => tan,
    },
    'revoke-consent': {
      description: 'the customer withdraws all consents at the bank',
      load: async () => revokeConsent,
    },
  },
};
