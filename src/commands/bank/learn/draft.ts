import { nextgenpsd2 } from '../../../bank/interfaces/nextgenpsd2/description/description.ts';
import { DECIDING, proofOf } from '../../../bank/interfaces/nextgenpsd2/description/proof.ts';
import {
  type BankDescription,
  type BankFile,
  bankFile,
} from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { describeBank, isBankFile } from '../../../bank-file/bank-file.ts';
import { mergeBankFiles } from '../../../bank-file/merge.ts';
import { valuesIn } from '../../../bank-file/values.ts';
import type { IsoDate } from '../../../domain/calendar.ts';

/** The descriptions that can be learned. */
export const ONLY = { nextgenpsd2: () => nextgenpsd2 };

/** Some fields of a bank file. */
export type Change = Omit<BankFile, 'interface'>;

/** What psd2 found out, or could not, with its evidence. */
export interface Finding {
  status: 'differs' | 'same' | 'said' | 'unknown';
  field: string;
  /** JSON. Null: not found out. */
  value: string | null;
  /** What the file or its platform said before. */
  was: string | null;
  asked: string | null;
  answered: string | null;
  reason: string | null;
}

/** What was asked and answered. */
export type Evidence = { asked: string; says: string };

/** A bank file that is being learned: what it says by itself, above what it extends. */
export class Draft {
  readonly findings: Finding[] = [];
  readonly #below: BankFile;
  readonly #before: ReadonlyMap<string, string>;
  readonly #about: Pick<BankFile, 'extends' | 'verifiedOn' | 'learned'>;
  /** The day at the bank. */
  readonly today: IsoDate;
  #own: BankFile;
  #learned: Record<string, string> = {};

  /** @param own what the file says so far. @param below what it extends, with all that extends */
  constructor(own: BankFile, below: BankFile, today: IsoDate) {
    const { extends: platform, verifiedOn, learned, ...fields } = own;
    this.#about = {
      ...(platform !== undefined && { extends: platform }),
      ...(verifiedOn && { verifiedOn }),
      ...(learned && { learned }),
    };
    this.#own = fields;
    this.#below = below;
    this.today = today;
    this.#before = new Map(
      [...valuesIn(bankFile.parse(this.full()))].map(([path, value]) => [path, JSON.stringify(value)]),
    );
  }

  /** The whole bank, with a change that is tried. */
  full(change: Change = {}): BankFile {
    return mergedLayers([change, this.#own, this.#below]);
  }

  /** The values in force with a change. @throws Psd2Error `config` if it does not fit together */
  describe(change: Change = {}): Promise<BankDescription> {
    return describeBank(this.full(change), ONLY);
  }

  /** Keeps what an answer has shown. */
  learn(change: Change, { asked: question, says: answered }: Evidence): void {
    this.#own = mergedLayers([change, this.#own]);
    for (const [field, content] of valuesIn(change)) {
      const value = JSON.stringify(content);
      const was = this.#before.get(field) ?? null;
      const status = value === was ? 'same' : 'differs';
      this.#note({ status, field, value, was, asked: question, answered, reason: null });
      this.#learned[field] = this.today;
    }
  }

  /** Keeps the first of the changes that an answer has shown. If it shows none, that could not be found out. */
  conclude(
    heard: Evidence,
    shown: readonly (readonly [boolean, Change])[],
    field: string,
    why: string,
  ): void {
    const change = shown.find(([isShown]) => isShown)?.[1];
    if (change) this.learn(change, heard);
    else this.lack(field, why, heard);
  }

  /** Notes what no field has to say. */
  say(field: string, value: string, { asked: question, says: answered }: Evidence): void {
    this.#note({ status: 'said', field, value, was: null, asked: question, answered, reason: null });
  }

  /** Notes what could not be found out. What is known already stays. */
  lack(field: string, reason: string, heard?: Evidence): void {
    if (this.findings.some((finding) => finding.field === field || finding.field.startsWith(`${field}.`)))
      return;
    const evidence = { asked: heard?.asked ?? null, answered: heard?.says ?? null };
    this.#note({ status: 'unknown', field, value: null, was: null, ...evidence, reason });
  }

  /** What a refused payment proves at the bank as far as it is known now, in sentences. */
  async proof(): Promise<string[]> {
    const fields = new Set([...valuesIn(this.full())].map(([field]) => field));
    return proofOf(await this.describe(), (field) => fields.has(field));
  }

  /** What decides what a refused payment proves first; then what differs; what was not found out last. */
  get inOrder(): Finding[] {
    const rank = (finding: Finding) => (isDeciding(finding) ? -1 : ORDER.indexOf(finding.status));
    return this.findings.toSorted((one, other) => rank(one) - rank(other));
  }

  /** Whether an answer has shown what a field must say. */
  knows(field: string): boolean {
    return this.#learned[field] !== undefined;
  }

  get hasLearned(): boolean {
    return Object.keys(this.#learned).length > 0;
  }

  /** The file. @param where the bank that was asked */
  file(where: string): BankFile {
    const unknown = this.findings.filter(({ status }) => status === 'unknown').map(({ field }) => field);
    const { interface: kind, name, source, ...fields } = this.#own;
    const { learned, ...about } = this.#about;
    const written = `${LEARNED} at ${where} on ${this.today}${unknown.length > 0 ? `. Not found out: ${unknown.join(', ')}` : ''}`;
    return {
      interface: kind,
      ...(name !== undefined && { name }),
      ...about,
      source: source === undefined || source.startsWith(LEARNED) ? written : source,
      learned: { ...learned, ...this.#learned },
      ...fields,
    };
  }

  #note(finding: Finding): void {
    const at = this.findings.findIndex(({ field }) => field === finding.field);
    if (at < 0) this.findings.push(finding);
    else this.findings[at] = finding;
  }
}

export const ORDER: readonly Finding['status'][] = ['differs', 'same', 'said', 'unknown'];

const isDeciding = ({ field }: Finding) => DECIDING.some((each) => each === field);

/** How the source of a learned file begins. */
const LEARNED = 'psd2 bank learn';

/** Why an answer may show nothing. */
export const UNCLEAR = 'the answer may be about something else';

/** A change above another one. */
export function over(below: Change, change: Change = {}): Change {
  return mergedLayers([change, below]);
}

function mergedLayers(layers: readonly Change[]): BankFile {
  const file = mergeBankFiles(
    layers.map((layer): BankFile => ({ ...layer, interface: 'nextgenpsd2' })),
    nextgenpsd2.inherited,
  );
  if (isBankFile(file, nextgenpsd2)) return file;
  throw new TypeError('What was learned is not a bank file');
}
