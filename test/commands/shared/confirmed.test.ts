import { describe, expect, it } from 'vitest';
import { confirmed } from '../../../src/commands/shared/confirmed.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { answering, openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const QUESTION = {
  ...{ text: 'Pay it?', unasked: 'Paying needs a confirmation', hint: 'Add --yes.' },
  declined: 'psd2 has paid nothing',
};

/** @param answer of a person. Undefined: there is no terminal */
async function ask(answer: boolean | undefined, globals = {}) {
  const { questions: asked, operator } = answering(answer ?? false);
  const { context } = openCommand(newConfigFolder(temporary), '2026-03-01T00:00:00.000Z', {
    globals,
    ...(answer !== undefined && { operator }),
  });
  return { asked, end: confirmed(context, QUESTION) };
}

describe('a step that needs a confirmation', () => {
  it.each([true, false, undefined])('goes on with --yes and asks nobody: %s', async (answer) => {
    const { asked, end } = await ask(answer, { yes: true });
    expect([await end, asked]).toEqual([undefined, []]);
  });

  it('goes on after a yes, and ends after a no and without a terminal', async () => {
    const { asked, end } = await ask(true);
    expect([await end, asked]).toEqual([undefined, ['Pay it?']]);
    expect(await failureOf((await ask(false)).end)).toEqual({
      ...{ code: 'cancelled', exitCode: 2, message: 'psd2 has paid nothing' },
    });
    expect(await failureOf((await ask(undefined)).end)).toEqual({
      ...{ code: 'confirmation_needed', exitCode: 2, hint: 'Add --yes.' },
      message: 'Paying needs a confirmation, and psd2 cannot ask without a terminal',
    });
  });
});
