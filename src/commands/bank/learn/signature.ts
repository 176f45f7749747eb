import type { Heard, SignatureVerdict } from '../../../bank/ports/questions.ts';
import { stepInterfaceAnswered } from '../../../domain/interface-name.ts';
import { Psd2Error } from '../../../errors.ts';
import { searchChange } from '../../checks/key-id.ts';
import type { Asker } from './asker.ts';
import type { Change } from './draft.ts';

const UNSIGNED: Change = { signing: { when: 'never' } };

/** Whether a refusal is about the signature. */
export const isSignature = ({ verdict }: Heard) => verdict === 'minds the signature';

/** Whether the bank wants a token. */
export const wantsToken = ({ verdict }: Heard) => verdict === 'wants a token';

/** The bank has looked at the consent, or for a token: it minds no signature. */
const hasPassed = ({ signature }: { signature: SignatureVerdict }) => signature !== 'not shown';

/**
 * Which signature the bank wants: readings of a consent that does not exist, one change at a time.
 *
 * @returns what to begin with: without a signature, unless the bank has refused that
 */
export async function learnSignature(asker: Asker): Promise<Change> {
  const { draft } = asker;
  const reading = (change: Change = {}) => asker.ask((bank) => bank.reading(), { change });
  const { signing } = await draft.describe();
  const first = await reading();
  assertBanks(first);
  const unsigned = signing.when === 'never' ? first : await reading(UNSIGNED);
  const named = { ...unsigned, asked: `${unsigned.asked} without a signature` };
  if (hasPassed(unsigned)) return UNSIGNED;
  if (hasPassed(first)) {
    if (isSignature(unsigned)) draft.learn({ signing: { when: 'always' } }, named);
    return {};
  }
  let last = first;
  const remedy = await searchChange(await draft.describe(), first.code ?? '', async (change) => {
    last = await reading(change);
    return hasPassed(last) ? undefined : (last.code ?? '');
  });
  if (remedy) {
    const change = {
      ...remedy,
      ...(isSignature(unsigned) && { signing: { when: 'always' as const, ...remedy.signing } }),
    };
    draft.learn(change, last);
  } else draft.lack('signing', 'nothing that psd2 tried was accepted', first);
  return {};
}

/** @throws Psd2Error `bank_answer` for what no bank answers to a consent that does not exist */
function assertBanks({ refusal, says, form }: Heard): void {
  if (form === 'step interface') throw stepInterfaceAnswered();
  if (refusal && form === 'json') return;
  const what = refusal
    ? `What answered is not the bank's interface (HTTP ${says})`
    : `The bank answers a reading with a consent that does not exist (HTTP ${says}), so its answers show nothing`;
  throw new Psd2Error('bank_answer', what, {
    hint: 'Check the base URL, and api.version and api.paths of the bank file. A gateway or proxy on the way may have answered, too.',
  });
}
