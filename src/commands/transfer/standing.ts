import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { FREQUENCIES } from '../../domain/order/terms.ts';
import { Psd2Error } from '../../errors.ts';
import { examples, verb } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { withPsuOptions } from '../shared/psu.ts';
import { makeTransfer } from './create.ts';
import { TRANSLITERATE } from './spelling.ts';
import { TRANSFERS } from './transfers.ts';

/** `psd2 transfer standing`: a periodic payment (the standard, section 3). `MonthlyVariable` needs its months, which psd2 does not send. */
export const standing = verb(
  {
    prints: printsOne(TRANSFERS),
    help: examples(
      'psd2 transfer standing --from IT89F0999001600000010482620 --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50 --frequency Monthly --start 2026-12-01',
    ),
  },
  (command) =>
    withCredentialOptions(
      withPsuOptions(
        command
          .option(
            '--from <account>',
            'account to debit: its id or its IBAN (required, unless the customer may choose it at the bank; psd2 asks on a terminal)',
          )
          .option('--to <iban>', "the payee's IBAN (required; psd2 asks on a terminal)")
          .option('--name <text>', "the payee's name (required; psd2 asks on a terminal)")
          .option('--amount <decimal>', 'amount of each payment (required; psd2 asks on a terminal)')
          .addOption(
            new Option('--frequency <how-often>', 'how often the bank pays')
              .choices(OFFERED)
              .argParser(parseFrequency)
              .makeOptionMandatory(),
          )
          .requiredOption('--start <date>', 'first day, YYYY-MM-DD')
          .option('--end <date>', 'last day, YYYY-MM-DD; default: until the customer ends it')
          .option('--day <n>', 'day of the month, 1 to 31; 31 is the last one')
          .option('--description <text>', 'remittance information, at most 140 characters')
          .option('--transliterate', TRANSLITERATE)
          .option('--type <text>', 'payment product of the bank')
          .option(
            '--reference <text>',
            'your own reference; psd2 refuses a second transfer with the same one',
          )
          .option('--payee-verified', 'you have checked that the name belongs to the IBAN')
          .addOption(
            new Option('--payee-source <who>', "who gave the payee's name and IBAN").choices(PAYEE_SOURCES),
          )
          .option('--payee-street <text>', "the payee's street")
          .option('--payee-building <text>', "the payee's house number")
          .option('--payee-postcode <text>', "the payee's postcode")
          .option('--payee-town <text>', "the payee's town, which every address needs")
          .option('--payee-country <code>', "the payee's country, which every address needs, for example DE"),
      ),
    ).option('--paste', 'prompt for the address in the browser after the customer has finished'),
  async (context, { start, end, day, frequency, payeeVerified = false, paste = false, ...order }) =>
    makeTransfer(await givenCredentials(context, order), {
      ...order,
      currency: 'EUR',
      instant: false,
      urgent: false,
      prepare: false,
      verifyData: [],
      payeeVerified,
      paste,
      date: start,
      standing: { frequency, end, day: readDayOfMonth(day) },
    }),
);

const OFFERED = FREQUENCIES.filter((frequency) => frequency !== 'MonthlyVariable');

/** Reads how often the bank pays, in capital or small letters. @throws InvalidArgumentError as commander does for a choice */
function parseFrequency(text: string): (typeof OFFERED)[number] {
  const frequency = OFFERED.find((each) => each.toLowerCase() === text.toLowerCase());
  if (frequency !== undefined) return frequency;
  throw new InvalidArgumentError(`Allowed choices are ${OFFERED.join(', ')}.`);
}

/** @throws Psd2Error `usage` */
function readDayOfMonth(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^([1-9]|[12]\d|3[01])$/.test(text)) return Number(text);
  throw new Psd2Error('usage', `--day ${JSON.stringify(text)} is not a day of the month, 1 to 31`);
}
