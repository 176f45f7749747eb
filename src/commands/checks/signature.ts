import { Psd2Error } from '../../errors.ts';
import { finding } from '../shared/checks.ts';
import type { Check, Subject } from './check.ts';
import type { Finding } from './diagnosis.ts';

/** Whether the bank accepts the call of `connection`, as it does when it knows the application, and the signature is right. */
export const signature: Check = {
  id: 'signature',
  needs: ['connection'],
  names: async (subject) => [await nameIn(subject)],
  async run(subject) {
    await subject.diagnosis.make(await nameIn(subject), () => judge(subject));
    return undefined;
  },
};

/** What the call is called, as the profile's bank has it. */
async function nameIn({ context, lacks }: Subject): Promise<string> {
  return lacks.has('settings') ? 'authorize' : (await context.bankInterface()).probes;
}

async function judge(subject: Subject): Promise<Finding> {
  const { reply } = subject;
  if (!reply) throw new TypeError('The bank was not asked');
  try {
    if (!reply.answer) throw reply.refusal;
    const { says, isUnsure, code } = await reply.answer.judge();
    if (isUnsure === 'other') subject.refusal = code;
    return finding(isUnsure ? 'warn' : 'ok', says);
  } catch (error) {
    if (error instanceof Psd2Error) subject.refusal = error.context.bankCode ?? undefined;
    throw error;
  }
}
