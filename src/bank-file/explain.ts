import { isDeepStrictEqual } from 'node:util';
import { type AboutPlatform, aboutPlatform, factOf, type Sureness } from './about.ts';
import { type ReadBank, readBankFile } from './bank-file.ts';
import type { BankHead, Descriptions } from './description.ts';
import type { Layer } from './layers.ts';
import { isObject, valuesIn } from './values.ts';

/** What is known of a value. */
interface Known {
  /** Where the platform or the file has it from; null if nothing says it. */
  source: string | null;
  /** Null if nobody said how sure it is. */
  sureness: Sureness | null;
  /** What other sources say of a contested value. */
  differs: string | null;
}

/** A value in force, where it is from, and how sure it is. */
export interface ExplainedValue extends Known {
  field: string;
  value: unknown;
  /** The platform or the path of the file that says it; `default`: the standard's. */
  from: string;
}

/** A layer with what is known of its values. A file of the operator's has no facts. */
type Explained = Omit<Layer, 'about'> & { about: AboutPlatform | null };

/** What a file says of itself, not of the bank. */
const OF_THE_FILE = ['interface', 'name', 'source', 'verifiedOn', 'learned', 'platform'];
const NOTHING: Known = { source: null, sureness: null, differs: null };

/** Each value in force of a bank file, with its source and how sure it is (docs/banks.md, "How sure a value is"). */
export function explainBank({ description, layers: files }: ReadBank): ExplainedValue[] {
  const layers = files.map(
    (file): Explained => ({
      ...file,
      about: file.about === undefined ? null : aboutPlatform.parse(file.about),
    }),
  );
  const pathsByLayer = layers.map(({ content }) => new Set([...valuesIn(content)].map(([path]) => path)));
  return [...valuesIn(description)].flatMap(([field, value]): ExplainedValue[] => {
    const layer = layers[pathsByLayer.findIndex((paths) => paths.has(field))];
    // What psd2 has added says nothing of the bank.
    if (!layer && field === 'platform') return [];
    const certainty = OF_THE_FILE.includes(field.split('.')[0] ?? '')
      ? NOTHING
      : certaintyOf(field, layer, layers);
    return [{ field, value, from: layer?.where ?? 'default', ...certainty }];
  });
}

/** @param layer that says the value. Undefined: it is the default, which the sources of a platform may still contest */
function certaintyOf(field: string, layer: Explained | undefined, layers: readonly Explained[]): Known {
  if (layer?.text !== undefined) return saidByFile(layer, field);
  const factIn = ({ about }: Explained) => (about ? factOf(about, field) : undefined);
  const fact = layer ? factIn(layer) : layers.map(factIn).find((each) => each?.sureness === 'contested');
  return fact ? { ...NOTHING, ...fact } : NOTHING;
}

/** An operator's file: what somebody saw, or psd2 learned at the bank, was seen at a server. */
function saidByFile({ content }: Pick<Layer, 'content'>, field: string): Known {
  const { source, verifiedOn, learned } = isObject(content) ? content : {};
  const isLearned =
    isObject(learned) && Object.keys(learned).some((path) => field === path || field.startsWith(`${path}.`));
  const isSeen = isLearned || typeof verifiedOn === 'string';
  return {
    ...NOTHING,
    source: typeof source === 'string' ? source : null,
    sureness: isSeen ? 'seen at a server' : null,
  };
}

/**
 * The contested values of a platform that hold for a bank: its file says nothing else. Empty for a bank without platform.
 *
 * @throws Psd2Error `config` if the platform does not come with this psd2
 */
export async function contestedIn(bank: BankHead, descriptions: Descriptions): Promise<ExplainedValue[]> {
  if (bank.platform === undefined) return [];
  const own = new Map(valuesIn(bank));
  const explained = explainBank(await readBankFile(bank.platform, descriptions));
  return explained.filter(
    ({ field, value, sureness }) => sureness === 'contested' && isDeepStrictEqual(own.get(field), value),
  );
}
