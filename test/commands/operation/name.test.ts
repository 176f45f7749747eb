import { expect, it } from 'vitest';
import { findOperation } from '../../../src/commands/operation/name.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const PRODUCT = '0000012345';

it('a step of an operation needs the name and the account that the operation began with', async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
  const { flows } = await context.store();
  const order = {
    ...{ customerId: '1000001', from: parseProductId(PRODUCT), operation: 'standingOrder', data: '{}' },
  };
  const begin = { transactionId: context.world.newId(), commits: 'on execute' as const, order };
  const flow = await flows.begin('operation', begin, async ({ current }) => current.flow);
  expect(await findOperation(context, 'standingOrder', PRODUCT, flow)).toMatchObject({ flow });
  for (const [name, product] of [
    ['standingOrder', '0000067890'],
    ['periodicPayment', PRODUCT],
  ] as const) {
    await expect(findOperation(context, name, product, flow)).rejects.toMatchObject({
      code: 'usage',
      message: `${flow} is a standingOrder of the account ${PRODUCT}`,
    });
  }
});
