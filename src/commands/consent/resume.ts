import type { Consent } from '../../domain/consent.ts';
import { isOver } from '../../domain/flow-states.ts';
import { lacking } from '../../domain/interface-name.ts';
import type { Context } from '../context.ts';
import { examples, verb, where } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { refuseClientCredentials } from '../flow/drive.ts';
import { resumeFlow } from '../flow/resume.ts';
import { refusePasting } from '../open/returns.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { readPerson, withPersonOptions } from '../shared/psu.ts';
import { CONSENTS } from './consents.ts';
import { driveConsent } from './request.ts';

/** `psd2 consent resume [flow]` */
export const resume = verb(
  { prints: printsOne(CONSENTS), help: examples('psd2 consent resume co-0mwq9zif7') },
  (command) =>
    withCredentialOptions(withPersonOptions(command))
      .argument('[flow]', 'default: the only unfinished consent, or the one you choose')
      .option('--allow-partial', 'succeed even if the bank grants only some of the categories')
      .option(
        '--paste',
        where('links for SCA', 'prompt for the address in the browser after the customer has finished'),
      ),
  async (context, flow, { allowPartial = false, paste = false, ...others }) => {
    const { psuPasswordFile, otpFile, scaMethod, ...person } = others;
    const taking = await givenCredentials(context, { psuPasswordFile, otpFile, scaMethod });
    return resumeFlow(
      taking,
      CONSENTS,
      flow,
      async (current) => {
        if (!isOver(current)) refuseClientCredentials(context);
        if (paste) await refusePaste(context, current);
        return readPerson(context, person);
      },
      (opened, open, who) => driveConsent(taking, opened, open, { allowPartial, paste, person: who }),
    );
  },
);

/** @throws Psd2Error `usage` if nothing can be pasted */
async function refusePaste(context: Context, { terms }: Consent): Promise<void> {
  if (terms === null)
    throw lacking((await context.bankInterface()).name, '--paste', {
      hint: 'It is for banks whose links lead the customer.',
    });
  refusePasting(context);
}
