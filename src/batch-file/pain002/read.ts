import { SaxesParser } from 'saxes';
import { codeOf, ranked } from '../../domain/bank-reason.ts';
import type { BankReason } from '../../errors.ts';
import { contradictionIn } from './contradiction.ts';

/** What a bank says of one payment of a file. */
export interface ReportedEntry {
  /** Its `TxSts`. Null: the report says two different ones. */
  status: string | null;
  /** Why, as `StsRsnInf` of the payment, of its group and of the file say. */
  reasons: BankReason[];
}

/** What a bank says of the payments of one file. */
export interface StatusReport {
  /** The files and groups that it names: `OrgnlMsgId` and `OrgnlPmtInfId`. */
  about: readonly string[];
  /** Of all payments together: `GrpSts`, else `PmtInfSts` if there is one group. Null: it does not say. */
  status: string | null;
  /** Why it refused all of them: as the group and the file say, else as the payments do. */
  reasons: BankReason[];
  /** By end-to-end id (`OrgnlEndToEndId`). */
  entries: ReadonlyMap<string, ReportedEntry>;
  /** Two statuses that cannot be true together, in words. Then it says nothing, of all payments and of each. Null: there are none. */
  contradiction: string | null;
}

/** The statuses in a group of payments (`OrgnlPmtInfAndSts`). */
interface GroupStatuses {
  /** `PmtInfSts`. */
  own: Set<string>;
  /** `TxSts`. */
  ofPayments: Set<string>;
}

/** More than any bank says of a bulk payment. */
const LONGEST = 50_000_000;

/** The elements that have reasons of their own, the lowest first. */
const LEVELS = {
  TxInfAndSts: 'payment',
  OrgnlPmtInfAndSts: 'group',
  OrgnlGrpInfAndSts: 'file',
} as const satisfies Record<string, BankReason['level']>;
type Level = (typeof LEVELS)[keyof typeof LEVELS];

/**
 * Reads what a bank says of payments in a pain.002 of any version (ISO 20022, CustomerPaymentStatusReport). The parser knows no
 * entities besides those of XML itself.
 *
 * @returns null: it is no pain.002
 */
export function readPain002(text: string): StatusReport | null {
  if (text.length > LONGEST) return null;
  const parser = new SaxesParser({ xmlns: true });
  const reading = new Reading();
  let words = '';
  let isBroken = false;
  const giveUp = () => {
    isBroken = true;
  };
  parser.on('error', giveUp);
  parser.on('doctype', giveUp);
  parser.on('opentag', ({ local, uri }) => {
    words = '';
    reading.begin(local, uri);
  });
  parser.on('text', (piece) => {
    words += piece;
  });
  parser.on('closetag', ({ local }) => {
    reading.end(local, words.trim());
    words = '';
  });
  parser.write(text).close();
  return isBroken ? null : reading.report();
}

/** What has been read of a pain.002, element by element. */
class Reading {
  #isReport = false;
  readonly #about = new Set<string>();
  /** How many `OrgnlGrpInfAndSts` there are. */
  #files = 0;
  /** `GrpSts`. */
  readonly #ofFile: string[] = [];
  /** By `OrgnlPmtInfId`: several elements may be about one group. */
  readonly #groups = new Map<string, GroupStatuses>();
  #group = '';
  readonly #found = new Map<string, ReportedEntry>();
  /** The payment that is open. */
  #entry: { ids: string[]; statuses: string[] } | undefined;
  /** The levels that are open, the lowest first. */
  readonly #open: Level[] = [];
  readonly #reasons = new Map<Level, BankReason[]>();
  /** Of all groups that have ended. */
  readonly #ofGroups: BankReason[] = [];
  #isInReason = false;

  /** An element begins. */
  begin(local: string, uri: string): void {
    if (local === 'Document') this.#isReport = uri.startsWith('urn:iso:std:iso:20022:tech:xsd:pain.002.001.');
    const level = levelOf(local);
    if (level) {
      this.#open.unshift(level);
      this.#reasons.set(level, []);
    }
    if (local === 'OrgnlGrpInfAndSts') this.#files += 1;
    if (local === 'OrgnlPmtInfAndSts') this.#group = '';
    if (local === 'TxInfAndSts') this.#entry = { ids: [], statuses: [] };
    if (local === 'Rsn') this.#isInReason = true;
    const [at] = this.#open;
    if (local === 'StsRsnInf' && at)
      this.#reasons.get(at)?.push({ level: at, code: null, proprietary: null, text: null });
  }

  /** An element ends. @param content its text */
  end(local: string, content: string): void {
    const [at] = this.#open;
    if (local === 'OrgnlMsgId' || local === 'OrgnlPmtInfId') this.#about.add(content);
    if (local === 'GrpSts') this.#ofFile.push(content);
    if (local === 'OrgnlPmtInfId') this.#group = content;
    if (local === 'PmtInfSts') this.#statusesOfGroup().own.add(content);
    if (local === 'OrgnlEndToEndId') this.#entry?.ids.push(content);
    if (this.#entry && local === 'TxSts') {
      this.#entry.statuses.push(content);
      this.#statusesOfGroup().ofPayments.add(content);
    }
    this.#endInReason(local, content, at && this.#reasons.get(at)?.at(-1));
    if (at && levelOf(local) === at) this.#open.shift();
    if (levelOf(local) === 'group') this.#endGroup();
    if (local === 'TxInfAndSts') this.#endEntry();
  }

  #endInReason(local: string, content: string, reason: BankReason | undefined): void {
    if (reason && this.#isInReason && local === 'Cd') Object.assign(reason, codeOf(content));
    if (reason && this.#isInReason && local === 'Prtry') reason.proprietary = content;
    if (local === 'Rsn') this.#isInReason = false;
    if (reason && local === 'AddtlInf') reason.text = `${reason.text ?? ''} ${content}`.trim();
  }

  /** Those of the group that is open. */
  #statusesOfGroup(): GroupStatuses {
    const statuses = this.#groups.get(this.#group) ?? { own: new Set(), ofPayments: new Set() };
    this.#groups.set(this.#group, statuses);
    return statuses;
  }

  #endEntry(): void {
    const { ids = [], statuses = [] } = this.#entry ?? {};
    const isOne = ids.length === 1 && statuses.length === 1;
    for (const id of ids) {
      const [status] = statuses;
      if (status === undefined) continue;
      const before = this.#found.get(id);
      const isSame = isOne && (before === undefined || before.status === status);
      this.#found.set(id, { status: isSame ? status : null, reasons: this.#reasonsNow() });
    }
    this.#reasons.delete('payment');
    this.#entry = undefined;
  }

  #endGroup(): void {
    this.#ofGroups.push(...(this.#reasons.get('group') ?? []));
    this.#reasons.delete('group');
  }

  /** Those of what is open, and of what is above it. */
  #reasonsNow(): BankReason[] {
    return ranked([...this.#reasons.values()].flat());
  }

  /** All of it. @returns null: it is no pain.002 */
  report(): StatusReport | null {
    if (!this.#isReport) return null;
    const contradiction = this.#contradiction();
    const about = [...this.#about];
    if (contradiction !== null)
      return { about, status: null, reasons: [], entries: new Map(), contradiction };
    const [ofFile = this.#onlyOfGroups()] = this.#ofFile;
    const above = ranked([...this.#ofGroups, ...this.#reasonsNow()]);
    const below = [...this.#found.values()].flatMap(({ reasons }) => reasons);
    return {
      about,
      status: ofFile === '' ? null : ofFile,
      reasons: above.length > 0 ? above : ranked(below),
      entries: this.#found,
      contradiction,
    };
  }

  /** `PmtInfSts`, if there is one group. */
  #onlyOfGroups(): string | null {
    const [only, ...others] = this.#groups.values();
    const [status = null] = only && others.length === 0 ? only.own : [];
    return status;
  }

  /** What cannot be true together. The standard has one element for the file, with one status, and one status of each group. */
  #contradiction(): string | null {
    if (this.#files > 1) return `OrgnlGrpInfAndSts ${this.#files} times`;
    if (this.#ofFile.length > 1) return `GrpSts ${this.#ofFile.join(' and GrpSts ')}`;
    const ofFile = new Set(this.#ofFile);
    for (const { own, ofPayments } of this.#groups.values()) {
      if (own.size > 1) return `PmtInfSts ${[...own].join(' and PmtInfSts ')}`;
      const problem = contradictionIn([
        ['GrpSts', ofFile],
        ['PmtInfSts', own],
        ['TxSts', ofPayments],
      ]);
      if (problem !== null) return problem;
    }
    return null;
  }
}

function levelOf(element: string): Level | undefined {
  return Object.entries(LEVELS).find(([name]) => name === element)?.[1];
}
