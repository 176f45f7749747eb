import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { credentialPortsOf } from '../../../src/commands/open/credentials.ts';
import { givenCredentials } from '../../../src/commands/shared/credential-options.ts';
import type { CredentialQuestion, Payment } from '../../../src/flows/ports.ts';
import type { Questions } from '../../../src/terminal/prompts.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { auditedIn } from '../access.ts';
import { type How, openCommand, ranIn, useFolder } from '../command.ts';
import { failureOf } from '../failure.ts';

const folder = useFolder();
const temporary = temporaryFolder();
const NOW = '2026-11-29T10:00:00.000Z';
const PIN = 'pin-48151';
const TAN = 'tan-62342';

function write(name: string, content: string, mode = 0o600): string {
  const path = join(temporary, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function writeBytes(name: string, bytes: number[]): string {
  const path = join(temporary, name);
  writeFileSync(path, Buffer.from(bytes), { mode: 0o600 });
  return path;
}

/** A payment as a journal has it, as far as a question shows it. */
function paymentOf(order: object, flow = 'tr-1'): CredentialQuestion['subject'] {
  const payment: Payment = Object.create({ flow, order });
  return { kind: 'payment', payment };
}
const ORDER = { to: 'DE89370400440532013000', name: 'Ada\u001b[2J', amount: '12.50', currency: 'EUR' };
const QUESTION: CredentialQuestion = {
  psuId: '700123',
  subject: paymentOf(ORDER),
  message: 'Compare<br>all',
};

/** A person who types these credentials, and answers with yes. */
function person(...typed: string[]) {
  const asked: string[] = [];
  const answer = (question: string) => {
    asked.push(question);
    return typed.shift() ?? '';
  };
  const operator: Partial<Questions> = {
    askCredential: async (question) => answer(question),
    confirm: async (question) => answer(question) === 'yes',
    showTyping: () => void asked.push('(typing is shown)'),
  };
  return { asked, operator };
}

/** The ports at a bank, for a profile of the environment. */
async function portsOf(env: Record<string, string>, how: How = {}, options = {}) {
  const command = openCommand(folder, NOW, { ...how, env: { PSD2_BANK: 'atruvia', ...env } });
  const context = await givenCredentials(command.context, options);
  const ports = await credentialPortsOf(context, { customerId: 'anna', profile: context.profile() });
  return { ports, said: command.said, context };
}
const audited = async () =>
  auditedIn((await ranIn(openCommand(folder, NOW), 'audit')).data).map(
    ([action, , about]) => `${action} ${about}`,
  );

describe('psd2 takes credentials', () => {
  it.each<[string, Record<string, string>, How, object | null]>([
    [
      'not by the bank file',
      { PSD2_BANK: 'n26', PSD2_EMBEDDED: 'ask' },
      person(),
      { code: 'usage', exitCode: 2 },
    ],
    ['not by the profile', {}, person(), { code: 'config', exitCode: 3 }],
    ['not without a terminal', { PSD2_EMBEDDED: 'ask' }, {}, { code: 'usage', exitCode: 2 }],
    ['not without a file', { PSD2_EMBEDDED: 'files' }, {}, { code: 'usage', exitCode: 2 }],
    ['at a terminal', { PSD2_EMBEDDED: 'ask' }, person(), null],
    ['from a file', { PSD2_EMBEDDED: 'files', PSD2_PSU_PASSWORD_FILE: write('pin', PIN) }, {}, null],
    [
      'not from a file that a variable names, if they are typed',
      { PSD2_EMBEDDED: 'ask', PSD2_PSU_PASSWORD_FILE: write('pin', PIN) },
      {},
      { code: 'usage', exitCode: 2 },
    ],
  ])('%s', async (_, env, how, refusal) => {
    const error = (await portsOf(env, how)).ports.refusal();
    if (refusal === null) expect(error).toBeNull();
    else expect(error && (await failureOf(Promise.reject(error)))).toMatchObject(refusal);
  });

  const [OPTION, VARIABLE] = ['from-option', 'from-variable'];
  it.each<[string, string | undefined, string | undefined, string]>([
    ['the option', OPTION, VARIABLE, OPTION],
    ['the option alone', OPTION, undefined, OPTION],
    ['the option beside an empty variable', OPTION, '', OPTION],
    ['the variable without an option', undefined, VARIABLE, VARIABLE],
  ])('from the file of %s, PIN and TAN alike', async (_, option, variable, from) => {
    const both = (name: string) => ({ pin: write(`pin-${name}`, name), tan: write(`tan-${name}`, name) });
    const files = { [OPTION]: both(OPTION), [VARIABLE]: both(VARIABLE) };
    const { ports } = await portsOf(
      {
        ...{ PSD2_EMBEDDED: 'files', PSD2_PSU_PASSWORD_FILE: files[variable ?? '']?.pin ?? '' },
        PSD2_OTP_FILE: files[variable ?? '']?.tan ?? '',
      },
      {},
      option === undefined ? {} : { psuPasswordFile: files[option]?.pin, otpFile: files[option]?.tan },
    );
    const found = [await ports.password(QUESTION), await ports.code({}, QUESTION)];
    expect(found.map((secret) => secret?.reveal())).toEqual([from, from]);
  });

  it.each<[string, object, object]>([
    ['an empty PIN', { psuPasswordFile: write('empty', '\n') }, { code: 'usage' }],
    ['two lines', { psuPasswordFile: write('two', `${PIN}\n${PIN}\n`) }, { code: 'usage' }],
    ['no file', { psuPasswordFile: join(temporary, 'none') }, { code: 'usage' }],
    ['a file of all', { psuPasswordFile: write('open', PIN, 0o644) }, { code: 'config' }],
    ['a TAN of two lines', { otpFile: write('two', `${TAN}\n${TAN}\n`) }, { code: 'usage' }],
    ['a PIN with a NUL', { psuPasswordFile: write('nul', `${PIN}\0\n`) }, { code: 'usage' }],
    ['a PIN with a space at its end', { psuPasswordFile: write('end', `${PIN} \n`) }, { code: 'usage' }],
    ['a TAN with a character of no width', { otpFile: write('zw', `${TAN}\u200b`) }, { code: 'usage' }],
    [
      'a TAN with a space that does not break',
      { otpFile: write('nbsp', `a\u00a0${TAN}`) },
      { code: 'usage' },
    ],
    ['bytes that are no text', { psuPasswordFile: writeBytes('odd', [0x70, 0xe9, 0x0a]) }, { code: 'usage' }],
    ['a file in UTF-16', { psuPasswordFile: writeBytes('utf16', [0xff, 0xfe, 0x31, 0]) }, { code: 'usage' }],
    ['standard input twice', { psuPasswordFile: '-', otpFile: '-' }, { code: 'usage' }],
  ])('and refuses before any call: %s', async (_, options, failure) => {
    const error = await failureOf(portsOf({ PSD2_EMBEDDED: 'files' }, {}, options));
    expect(error).toMatchObject(failure);
    expect(JSON.stringify(error)).not.toMatch(/48151|62342/);
  });

  it.each([
    ['the mark of an editor', `\ufeff${PIN}`],
    ['a line of another system', `${PIN}\r\n`],
    ['both', `\ufeff${PIN}\r\n`],
  ])('and sends nothing that nobody sees: %s is no part of a PIN', async (_, content) => {
    const { ports } = await portsOf(
      { PSD2_EMBEDDED: 'files' },
      {},
      { psuPasswordFile: write('seen', content) },
    );
    expect((await ports.password(QUESTION))?.reveal()).toBe(PIN);
  });

  it('and no file whose option is given where they are typed, and no pipe that is a terminal', async () => {
    const options = { psuPasswordFile: write('pin', PIN) };
    const error = await failureOf(portsOf({ PSD2_EMBEDDED: 'ask' }, person(), options));
    expect(error).toMatchObject({ code: 'config', exitCode: 3 });
    const env = { PSD2_EMBEDDED: 'files' };
    for (const pipe of [{ otpFile: '-' }, { psuPasswordFile: '-' }])
      expect(await failureOf(portsOf(env, person(), pipe))).toMatchObject({
        ...{ code: 'usage', message: '- reads a pipe, and standard input is a terminal' },
      });
  });

  it('typed: whose they are, who gets them, what for, and the words of the bank as such', async () => {
    const { asked, operator } = person(PIN, TAN);
    const env = { PSD2_EMBEDDED: 'ask', PSD2_CA: '/ca.pem', PSD2_BASE_URL: 'https://gw.b\u00e4nk.example/x' };
    const { ports, said } = await portsOf(env, { operator });
    const pin = await ports.password(QUESTION);
    expect([pin?.reveal(), String(pin), JSON.stringify({ pin })]).toEqual([
      PIN,
      '[secret]',
      '{"pin":"[secret]"}',
    ]);
    expect(said().split('\n')).toEqual([
      '',
      'The bank asks for the PIN of 700123 (VR-NetKey or alias). Only this person types it.',
      '  Payee    Ada\ufffd[2J',
      '  IBAN     DE89 3704 0044 0532 0130 00',
      '  Amount   12.50 EUR',
      '  Sent to  gw.xn--bnk-qla.example',
      "  CA       /ca.pem, instead of the system's",
      'The bank says:',
      '  | Compare',
      '  | all',
      '',
    ]);
    await ports.note('password', QUESTION, 'accepted');
    const challenge = {
      information: 'Start',
      otpMaxLength: '6',
      otpFormat: 'Integer',
      data: ['2908881090261001,00'],
    };
    const method = { id: '1', type: 'CHIP_OTP', name: 'by hand' };
    expect((await ports.code({ ...challenge, method }, QUESTION))?.reveal()).toBe(TAN);
    expect(said()).toContain('Compare on your device: IBAN and amount.');
    expect(said()).not.toMatch(/2908881090261001|flickers/);
    await ports.note('code', QUESTION, 'unknown');
    await ports.close();
    expect(asked).toEqual([
      'PIN (not shown; Enter alone sends nothing)',
      'TAN, at most 6 digits (not shown; Enter alone sends nothing)',
      '(typing is shown)',
    ]);
    expect(await audited()).toEqual([
      'authenticated PIN accepted, payment, gw.xn--bnk-qla.example, PSU-ID 700123',
      'authenticated TAN unknown, payment, gw.xn--bnk-qla.example, PSU-ID 700123',
    ]);
  });

  it.each<[host: string, gateway: string | undefined]>([
    ['gateway.example', "this one is not the bank's own host, bank.example"],
    ['bank.example', undefined],
  ])('typed at %s: a gateway is named beside the bank', async (host, gateway) => {
    const file = {
      interface: 'nextgenpsd2',
      sca: { approaches: ['embedded'] },
      api: { baseUrl: 'https://bank.example/x' },
    };
    const env = { PSD2_BANK: JSON.stringify(file), PSD2_EMBEDDED: 'ask', PSD2_BASE_URL: `https://${host}` };
    const { ports, said } = await portsOf(env, person(PIN));
    await ports.password(QUESTION);
    expect(/Sent to +(.*)\n/.exec(said())?.[1]).toBe(host);
    expect(/Gateway +(.*)\n/.exec(said())?.[1]).toBe(gateway);
  });

  it.each([true, false])(
    'whether another authorisation begins is asked where somebody is: %s',
    async (canAsk) => {
      const { asked, operator } = person('yes');
      const { ports } = await portsOf(
        { PSD2_EMBEDDED: 'ask' },
        {
          changes: ({ terminal }) => ({ terminal: { ...terminal, ...operator, canAsk } }),
        },
      );
      expect(await ports.beginsAgain(QUESTION)).toBe(canAsk);
      expect(asked).toHaveLength(canAsk ? 1 : 0);
    },
  );

  it('a TAN once more: psd2 says that it has sent one', async () => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, person(TAN, TAN));
    await ports.code({}, QUESTION);
    expect(said()).not.toContain('sent one before');
    await ports.code({}, { ...QUESTION, wasSent: true });
    expect(said()).toContain('psd2 has sent one before. Each is valid once');
  });

  it('and says what it cannot show: a code that flickers for a reader at the screen', async () => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, person(TAN));
    const method = { id: '1', type: 'CHIP_OTP', name: 'chipTAN optisch' };
    await ports.code({ information: 'Start', data: ['11048813833205'], method }, QUESTION);
    expect(said()).toMatch(/flickers for a reader at the screen/);
    expect(said()).not.toContain('11048813833205');
  });

  it('Enter alone sends nothing', async () => {
    const { ports } = await portsOf({ PSD2_EMBEDDED: 'ask' }, person('', ''));
    expect([await ports.password(QUESTION), await ports.code({}, QUESTION)]).toEqual([null, null]);
    expect(
      await (await (await portsOf({ PSD2_EMBEDDED: 'ask' }, person())).context.store()).pins(),
    ).toBeDefined();
  });

  it.each<[string, object, string]>([
    [
      'many payments at once',
      {
        operation: 'bulk',
        data: JSON.stringify({ batch: 'b1', lines: [1, 2, 3], amount: '9.00', currency: 'EUR' }),
      },
      '  For      3 payments together\n  Amount   9.00 EUR in all\n  See them psd2 batch show b1\n',
    ],
    ['another operation', { operation: 'other', data: '{}' }, '  For      other tr-1\n'],
    ['data that is no JSON', { operation: 'other', data: '{' }, '  For      other tr-1\n'],
    ['an order of another form', { sum: '9.00' }, '  For      the payment tr-1\n'],
  ])('%s: psd2 says what the PIN is for', async (_, order, words) => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, person(PIN));
    await ports.password({ subject: paymentOf(order) });
    expect(said()).toContain(
      `The bank asks for the PIN of the customer. Only this person types it.\n${words}`,
    );
  });

  it('from files: each once for the same, never again for what was sent, and a TAN only when it is there', async () => {
    const otpFile = join(temporary, 'later');
    const options = { psuPasswordFile: write('pin', `${PIN}\n`), otpFile };
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'files' }, {}, options);
    expect((await ports.password(QUESTION))?.reveal()).toBe(PIN);
    await ports.note('password', QUESTION, 'accepted');
    expect(await ports.password(QUESTION)).toBeNull();
    expect(said()).toContain('psd2 sends the PIN of a file only once.');
    const other = { ...QUESTION, subject: paymentOf(ORDER, 'tr-2') };
    expect((await ports.password(other))?.reveal()).toBe(PIN);
    await ports.note('password', other, 'accepted');
    expect(await ports.code({}, QUESTION)).toBeNull();
    write('later', TAN);
    expect((await ports.code({}, other))?.reveal()).toBe(TAN);
    expect(
      await ports.code({}, { ...QUESTION, subject: paymentOf(ORDER, 'tr-3'), wasSent: true }),
    ).toBeNull();
  });

  it('from files: each of several persons has it once, and each subject of a person', async () => {
    const options = { psuPasswordFile: write('pin', PIN), otpFile: write('tan', TAN) };
    const { ports } = await portsOf({ PSD2_EMBEDDED: 'files' }, {}, options);
    const consent = { kind: 'consent', flow: 'tr-1', order: {} } as const;
    const found: (string | undefined)[] = [];
    for (const question of [
      ...[QUESTION, { ...QUESTION, psuId: 'other' }, { ...QUESTION, psuId: undefined }],
      ...[
        { ...QUESTION, subject: consent },
        { ...QUESTION, subject: paymentOf(ORDER, 'tr-2') },
      ],
    ])
      for (const ask of [() => ports.password(question), () => ports.code({}, question)]) {
        found.push((await ask())?.reveal());
        await ports.note('password', question, 'accepted');
        found.push((await ask())?.reveal());
      }
    expect(found).toEqual(Array(5).fill([PIN, undefined, TAN, undefined]).flat());
  });

  it('from a pipe: when the bank has asked, once', async () => {
    let reads = 0;
    const changes = () => ({ readStdin: async () => `${PIN}${reads++ === 0 ? '\n' : ''}` });
    const { ports } = await portsOf({ PSD2_EMBEDDED: 'files' }, { changes }, { psuPasswordFile: '-' });
    expect([ports.refusal(), reads]).toEqual([null, 0]);
    expect((await ports.password(QUESTION))?.reveal()).toBe(PIN);
    expect(await ports.password({ ...QUESTION, subject: paymentOf(ORDER, 'tr-2') })).toBeNull();
    expect(reads).toBe(1);
  });

  it.each([
    ['has more than one line', '-', 'standard input', `${PIN}\n\n`],
    ['has more than one line', write('late', PIN), join(temporary, 'late'), `${PIN}\n${PIN}`],
  ])('and refuses what %s when the bank has asked: %s', async (what, file, place, content) => {
    const changes = () => ({ readStdin: async () => content });
    const { ports } = await portsOf({ PSD2_EMBEDDED: 'files' }, { changes }, { psuPasswordFile: file });
    if (file !== '-') write('late', content);
    expect(await failureOf(ports.password(QUESTION))).toMatchObject({
      ...{ code: 'usage', message: `The PIN in ${place} ${what}` },
      hint: '--psu-password-file names a file of yours with the mode 0600 and one line.',
    });
  });
});

describe('PINs that the bank has not accepted', () => {
  it('need a yes after two that were typed, until one is accepted', async () => {
    const { asked, operator } = person(PIN, PIN, 'no', '', 'yes', PIN, PIN);
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, { operator });
    for (const result of ['refused', 'unknown'] as const) {
      await ports.password(QUESTION);
      await ports.note('password', QUESTION, result);
    }
    expect(await ports.password(QUESTION)).toBeNull();
    expect(said()).toContain(
      '2 PINs of 700123 (VR-NetKey or alias) were sent, and the bank has accepted none. Three',
    );
    expect(await ports.password({ ...QUESTION, psuId: 'other' })).toBeNull();
    expect((await ports.password(QUESTION))?.reveal()).toBe(PIN);
    await ports.note('password', QUESTION, 'accepted');
    expect((await ports.password(QUESTION))?.reveal()).toBe(PIN);
    expect(asked.filter((question) => question.startsWith('Is the PIN'))).toHaveLength(2);
  });

  it('are counted by each run: a third one needs a yes, and one from a file after a typed one', async () => {
    const run = async (...typed: string[]) => {
      const { asked, operator } = person(...typed);
      const { ports } = await portsOf({ PSD2_EMBEDDED: 'ask' }, { operator });
      return [(await ports.password(QUESTION))?.reveal(), asked.length];
    };
    expect(await run(PIN)).toEqual([PIN, 1]);
    const options = { psuPasswordFile: write('pin', PIN) };
    const { ports } = await portsOf({ PSD2_EMBEDDED: 'files' }, {}, options);
    expect(await failureOf(ports.password(QUESTION))).toMatchObject({ code: 'confirmation_needed' });
    expect(await run(PIN)).toEqual([PIN, 1]);
    expect(await run('no')).toEqual([undefined, 1]);
    expect(await run('yes', PIN)).toEqual([PIN, 2]);
  });

  it('stop a machine after one from a file, also one that is killed before the bank answers', async () => {
    const options = { psuPasswordFile: write('pin', PIN) };
    const env = { PSD2_EMBEDDED: 'files' };
    await (await portsOf(env, {}, options)).ports.password(QUESTION);
    const { ports } = await portsOf(env, {}, options);
    expect(await failureOf(ports.password({ ...QUESTION, subject: paymentOf(ORDER, 'tr-2') }))).toMatchObject(
      {
        ...{ code: 'confirmation_needed', exitCode: 2 },
        message: expect.stringMatching(/^One PIN of 700123 .* was sent, and the bank has accepted none/),
      },
    );
  });

  it('that another psd2 sends meanwhile are counted before one of ours is sent', async () => {
    const { context } = await portsOf({ PSD2_EMBEDDED: 'ask' });
    const pins = await (await context.store()).pins();
    let isFirst = true;
    const askCredential = async () => {
      if (isFirst) await pins.add('700123', 0);
      isFirst = false;
      return PIN;
    };
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, { operator: { askCredential } });
    expect((await ports.password(QUESTION))?.reveal()).toBe(PIN);
    expect(said()).toContain('so this one was not sent');
    expect(await pins.count('700123')).toBe(2);
  });
});

describe('the methods of a customer', () => {
  const METHODS = [
    { id: '972', type: 'CHIP_OTP', name: 'Sm@rt-TAN optic' },
    { id: '962', type: 'CHIP_OTP', name: 'by hand', explanation: 'With your card' },
    { id: '942', type: 'SMS_OTP', name: 'mobile TAN' },
  ];

  it('one is taken unasked, and without a person that which an option names, or none', async () => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' });
    expect([
      await ports.method(METHODS.slice(0, 1), QUESTION),
      await ports.method(METHODS, QUESTION),
    ]).toEqual(['972', null]);
    expect(said()).toBe('');
    for (const [scaMethod, id] of [
      ['942', '942'],
      ['sms_otp', '942'],
      ['By Hand', '962'],
      ['CHIP_OTP', null],
      ['944', null],
    ]) {
      const named = await portsOf({ PSD2_EMBEDDED: 'ask' }, {}, { scaMethod });
      expect([scaMethod, await named.ports.method(METHODS, QUESTION)]).toEqual([scaMethod, id]);
    }
  });

  it('that share a type are named by their ids, because the type is not enough', async () => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, {}, { scaMethod: 'chip_otp' });
    expect(await ports.method(METHODS, QUESTION)).toBeNull();
    expect(said()).toContain(
      '2 methods of 700123 (VR-NetKey or alias) are called chip_otp. Name one by its id: 972, Sm@rt-TAN optic (CHIP_OTP); 962, by hand (CHIP_OTP).',
    );
    const other = await portsOf({ PSD2_EMBEDDED: 'ask' }, {}, { scaMethod: '944' });
    await other.ports.method(METHODS, QUESTION);
    expect(other.said()).toContain('The bank has no method 944 for 700123 (VR-NetKey or alias).');
  });

  it('of another authorisation may be others: what was chosen before does not count', async () => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, {}, { scaMethod: 'SMS_OTP' });
    expect(await ports.method(METHODS, QUESTION)).toBe('942');
    expect(await ports.method(METHODS.slice(0, 2), QUESTION)).toBeNull();
    expect(said()).toContain('The bank has no method SMS_OTP for 700123');
    const renamed = METHODS.map((each) => ({ ...each, id: `${each.id}-b` }));
    expect(await ports.method(renamed, QUESTION)).toBe('942-b');
  });

  it('several are shown: that of the last time first, what psd2 cannot play last with the reason', async () => {
    const shown: string[][] = [];
    const choose: Questions['choose'] = async (_question, choices) => {
      shown.push(choices.map(({ name }) => name));
      const chosen = choices.find(({ value }) => String(value) === '942');
      if (!chosen) throw new Error('There is no such choice');
      return chosen.value;
    };
    const { ports, context } = await portsOf({ PSD2_EMBEDDED: 'ask' }, { operator: { choose } });
    const { customers } = await context.store();
    await customers.change('anna', (before) => ({ ...before, psu: { ...before.psu, id: '700123' } }));
    expect(await ports.method(METHODS, QUESTION)).toBe('942');
    await ports.note('code', QUESTION, 'accepted');
    await ports.method(METHODS, QUESTION);
    const optic = 'Sm@rt-TAN optic (CHIP_OTP). psd2 shows no flickering code: choose the one by hand.';
    expect(shown).toEqual([
      ['by hand (CHIP_OTP). With your card.', 'mobile TAN (SMS_OTP)', optic],
      ['mobile TAN (SMS_OTP)', 'by hand (CHIP_OTP). With your card.', optic],
    ]);
  });
});

describe('the picture of a challenge', () => {
  const picture = (colours: number[][]) => {
    const png = new PNG({ width: colours.length, height: 2 });
    for (let at = 0; at < colours.length * 2; at += 1)
      png.data.set([...(colours[at % colours.length] ?? []), 255], at * 4);
    return PNG.sync.write(png).toString('base64');
  };
  const [black, white, green] = [
    [0, 0, 0],
    [255, 255, 255],
    [0, 160, 0],
  ];

  it('of two colours is drawn, and one with more is saved until the step ends', async () => {
    const { operator, asked } = person(TAN, 'no', TAN);
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask', XDG_RUNTIME_DIR: temporary }, { operator });
    await ports.code({ image: picture([black, white, black]) }, QUESTION);
    expect(said()).toContain('\n ▀ \n'.replaceAll('▀', '█'));
    await ports.code({ image: picture([black, green]) }, QUESTION);
    const path = /is here: (\S+)/.exec(said())?.[1] ?? '';
    expect([statSync(path).mode & 0o777, asked.some((each) => each.startsWith('Open it with'))]).toEqual([
      0o600,
      true,
    ]);
    await ports.close();
    expect(existsSync(path)).toBe(false);
  });

  it('is saved once for the same challenge, and another challenge is shown in its place', async () => {
    const { operator } = person(TAN, TAN, TAN, TAN);
    const { ports, said } = await portsOf(
      { PSD2_EMBEDDED: 'ask', XDG_RUNTIME_DIR: temporary },
      { operator: { ...operator, confirm: async () => false } },
    );
    const saved = () => [...said().matchAll(/is here: (\S+)/g)].map(([, path]) => path ?? '');
    const first = { image: picture([black, green]), information: 'The first one' };
    await ports.code(first, QUESTION);
    await ports.code({ ...first }, { ...QUESTION, wasSent: true });
    expect(saved().map((path) => existsSync(path))).toEqual([true]);
    await ports.code({ image: picture([green, black]), information: 'The second one' }, QUESTION);
    expect(said()).toMatch(/The first one[\s\S]*The second one/);
    expect(saved().map((path) => existsSync(path))).toEqual([false, true]);
    await ports.code({ information: 'The third one' }, QUESTION);
    expect(said()).toContain('The third one');
    expect(saved().map((path) => existsSync(path))).toEqual([false, false]);
    await ports.close();
  });

  it('that is none is named, and the TAN can be typed all the same', async () => {
    const { ports, said } = await portsOf({ PSD2_EMBEDDED: 'ask' }, person(TAN));
    expect((await ports.code({ image: 'AAAA' }, QUESTION))?.reveal()).toBe(TAN);
    expect(said()).toContain('a picture that psd2 does not show: it is not a PNG.');
  });
});
