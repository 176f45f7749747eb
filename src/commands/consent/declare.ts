import type { Command } from '@commander-js/extra-typings';
import { ATTENTION_NOTE, collect, declareCancel, declareResolve, examples, type Run } from '../declare.ts';

/** `psd2 consent`: its verbs, in the order of a consent. */
export function declareConsent(consent: Command, run: Run): void {
  consent.addHelpText(
    'after',
    examples('psd2 consent request --category ACCOUNT_INFO --all-products', 'psd2 consent list'),
  );
  declareRequest(consent, run);
  declareListAndShow(consent, run);
  declareResume(consent, run);
  declareCancel(
    consent,
    { kind: 'a consent', sent: 'confirm', example: 'psd2 consent cancel co-0mwq9zif7' },
    (flow) => run(async (context) => (await import('./cancel.ts')).consentCancel(context, flow)),
  );
  declareConsentResolve(consent, run);
}

function declareRequest(consent: Command, run: Run): void {
  consent
    .command('request')
    .description('ask the customer for consent, with strong authentication in the browser')
    .option('--category <name>', 'ACCOUNT_INFO, FUNDS_AVAILABILITY or PAYMENTS; may be repeated', collect, [])
    .option('--product <id>', 'product to ask for; may be repeated', collect, [])
    .option('--all-products', 'ask for all products of the customer')
    .option('--allow-partial', 'succeed even if the bank grants only some of the categories')
    .addHelpText(
      'after',
      `
Examples:
  $ psd2 consent request --category ACCOUNT_INFO --all-products
  $ psd2 consent request --category ACCOUNT_INFO --category PAYMENTS --product 0012345678`,
    )
    .action(({ category, product, allProducts = false, allowPartial = false }) =>
      run(async (context) =>
        (await import('./request.ts')).consentRequest(context, {
          category,
          product,
          allProducts,
          allowPartial,
        }),
      ),
    );
}

function declareListAndShow(consent: Command, run: Run): void {
  consent
    .command('list')
    .description('list the consents of this profile, newest first')
    .option('--attention', 'show only what a person must look at')
    .addHelpText('after', ATTENTION_NOTE)
    .addHelpText('after', examples('psd2 consent list', "psd2 consent list --json | jq -r '.[0].state'"))
    .action(({ attention = false }) =>
      run(async (context) => (await import('./list.ts')).consentList(context, { attention })),
    );

  consent
    .command('show')
    .argument('<flow>')
    .description('show the local record of a consent, without asking the bank')
    .addHelpText('after', examples('psd2 consent show co-0mwq9zif7'))
    .action((flow) => run(async (context) => (await import('./show.ts')).consentShow(context, flow)));
}

function declareResume(consent: Command, run: Run): void {
  consent
    .command('resume')
    .argument('[flow]', 'default: the only unfinished consent, or the one you choose')
    .description('continue an unfinished consent')
    .addHelpText('after', examples('psd2 consent resume co-0mwq9zif7'))
    .option('--allow-partial', 'succeed even if the bank grants only some of the categories')
    .action((flow, { allowPartial = false }) =>
      run(async (context) => (await import('./resume.ts')).consentResume(context, flow, { allowPartial })),
    );
}

function declareConsentResolve(consent: Command, run: Run): void {
  declareResolve(
    consent,
    {
      description: 'end a consent with an unknown outcome by hand',
      executed: "the bank has confirmed it: you can read the accounts, or the bank's support says so",
      notExecuted: 'the bank has not confirmed it and never will',
      note: `For a consent in state unknown or confirming. The command first asks the bank again. If the bank's answer decides, that
answer counts. Otherwise the command shows the consent, asks you to confirm, and records who decided what, when and why. It
confirms nothing at the bank. First end every psd2 that still works on the consent, also one that Ctrl-Z stopped.`,
      examples: [
        'psd2 consent resolve co-0mwq9zif7 --executed --note "psd2 accounts balance works"',
        'psd2 consent resolve co-0mwq9zif7 --not-executed --yes',
      ],
    },
    (flow, options) =>
      run(async (context) => (await import('./resolve.ts')).consentResolve(context, flow, options)),
  );
}
