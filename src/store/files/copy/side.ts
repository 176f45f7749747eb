import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lineInstead, sha256Of } from '../../audit/chain.ts';
import { pseudonymIn } from '../../audit/pseudonyms.ts';
import { listFolder, makePrivateFolder } from '../../disk/files.ts';
import type { StoreFolder } from '../../machine/folder.ts';
import type { AuditLine } from '../../ports/audit.ts';
import type {
  AuditRecord,
  CopySide,
  CountRecord,
  Holdings,
  LoginRecord,
  NoteRecord,
  PseudonymRecord,
  StoredRecord,
} from '../../ports/copy.ts';
import type { Holder } from '../../ports/tokens.ts';
import type { Vault } from '../../secrets/vault.ts';
import { addReadLines, type DayOfAccount, FileAccessNotes, nameOfRead, readOfName } from '../access.ts';
import { FileAudit } from '../audit.ts';
import { FileBatches } from '../batches.ts';
import { FileCustomers } from '../customers.ts';
import { changeMark, markOf, profilesIn } from '../data.ts';
import { countPins, readPins } from '../pins.ts';
import { FileReadResults } from '../read-results.ts';
import { FileTokens } from '../tokens.ts';
import { FlowCopies } from './flows.ts';

/** A configuration folder as a side of `store copy`. @param vaultOf gives the key of a profile's secrets in that folder */
export function folderSide(folder: StoreFolder, vaultOf: (profile: string) => Vault): CopySide {
  const { root } = folder;
  const tokensOf = (profile: string) =>
    new FileTokens(folder, profile, undefined, undefined, vaultOf(profile));
  return {
    place: root,
    mark: () => markOf(root),
    setMark: async (change) => {
      await changeMark(root, change);
    },
    profiles: async () => profilesIn(folder),
    atWork: async () => {
      const working: string[] = [];
      for (const profile of profilesIn(folder)) {
        working.push(...(await tokensOf(profile).atWork()));
        working.push(...(await new FileCustomers(folder, profile).atWork()));
        working.push(...(await new FlowCopies(folder.flows(profile)).atWork()));
        working.push(...(await batchesOf(folder, profile).atWork()));
      }
      return working;
    },
    open: (profile) => new FolderHoldings(folder, profile, tokensOf(profile), vaultOf(profile)),
    pins: async () => readPins(root),
    countPins: (pins) => countPins(root, pins),
  };
}

function batchesOf(folder: StoreFolder, profile: string): FileBatches {
  return new FileBatches(folder.flows(profile), { now: () => new Date() });
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The data of one profile in a folder. */
class FolderHoldings implements Holdings {
  readonly #vault: Vault;
  readonly #tokens: FileTokens;
  readonly #customers: FileCustomers;
  readonly #flows: FlowCopies;
  readonly #audit: FileAudit;
  readonly #batches: FileBatches;
  readonly #notes: FileAccessNotes;
  readonly #results: FileReadResults;
  #lines: Map<number, AuditLine> | undefined;
  readonly #calls: string;
  readonly #reads: string;

  constructor(folder: StoreFolder, profile: string, tokens: FileTokens, vault: Vault) {
    this.#vault = vault;
    this.#tokens = tokens;
    this.#customers = new FileCustomers(folder, profile);
    this.#flows = new FlowCopies(folder.flows(profile));
    this.#audit = new FileAudit(folder.audit(profile), { profile, interrupted: folder.interrupted });
    this.#batches = batchesOf(folder, profile);
    this.#notes = new FileAccessNotes(folder, profile);
    this.#results = new FileReadResults(join(folder.tokens(profile), 'read-results.ndjson'));
    this.#calls = join(folder.tokens(profile), 'client-credentials-calls');
    this.#reads = join(folder.tokens(profile), 'unattended-reads');
  }

  async openKey(): Promise<void> {
    await this.#vault.key();
  }

  async *records(): AsyncGenerator<StoredRecord> {
    for (const holder of this.#tokens.holders()) {
      const login = await this.#login(holder);
      if (login) yield login;
      const note = this.#note(holder);
      if (note) yield note;
    }
    const customerId = await this.#tokens.last();
    if (customerId !== undefined) yield { kind: 'last-login', customerId };
    yield* this.#customers.records();
    for (const flow of this.#flows.all()) {
      const record = this.#flows.read(flow);
      if (record) yield record;
    }
    for (const pseudonym of this.#audit.pseudonyms()) yield { kind: 'pseudonym', ...pseudonym };
    for await (const line of this.#audit.lines()) yield { kind: 'audit', ...line };
    for (const batch of this.#batches.ids()) {
      const record = this.#batches.record(batch);
      if (record) yield record;
    }
    for (const day of daysIn(this.#calls)) {
      const calls = this.#callsOn(day);
      if (calls) yield calls;
    }
    for (const day of daysIn(this.#reads)) yield* this.#readsOn(day);
    yield* this.#results.records();
  }

  async counterpart(record: StoredRecord): Promise<StoredRecord | undefined> {
    switch (record.kind) {
      case 'login':
        return this.#login(holderNamed(record.holder));
      case 'note':
        return this.#note(holderNamed(record.holder));
      case 'last-login': {
        const customerId = await this.#tokens.last();
        return customerId === undefined ? undefined : { kind: 'last-login', customerId };
      }
      case 'customer':
        return this.#customers.record(record.baseUrl, record.customer);
      case 'audit':
        return this.#lineInstead(record);
      case 'pseudonym':
        return this.#pseudonymInstead(record);
      case 'flow':
        return this.#flows.read(record.flow);
      case 'batch':
        return this.#batches.record(record.batch);
      case 'reads':
        return this.#results.record(record.customerId);
      case 'count':
        return record.read === null
          ? this.#callsOn(record.day)
          : this.#readsOn(record.day).find(
              ({ read }) =>
                read?.customerId === record.read?.customerId && read?.productId === record.read?.productId,
            );
    }
  }

  async put(record: StoredRecord): Promise<void> {
    switch (record.kind) {
      case 'login':
        return this.#tokens.keep(record);
      case 'note':
        return this.#notes.keep(holderNamed(record.holder), record);
      case 'last-login':
        return this.#tokens.remember(record.customerId);
      case 'customer':
        return this.#customers.keep(record);
      case 'audit':
        (await this.#auditLines()).set(record.n, { n: record.n, text: record.text });
        return this.#audit.keep(record);
      case 'pseudonym':
        return this.#audit.keepPseudonym(pseudonymIn(record));
      case 'flow':
        return this.#flows.add(record);
      case 'batch':
        return this.#batches.keep(record);
      case 'reads':
        return this.#results.keep(record);
      case 'count':
        return this.#putCount(record);
    }
  }

  #pseudonymInstead({ customerId, word }: PseudonymRecord): PseudonymRecord | undefined {
    const all = this.#audit.pseudonyms();
    const own = all.find((each) => each.customerId === customerId && each.word === word);
    return own && { kind: 'pseudonym', ...own };
  }

  async #lineInstead(record: AuditRecord): Promise<AuditRecord | undefined> {
    const lines = await this.#auditLines();
    const last = lines.get(lines.size);
    const head = last && { n: last.n, sha256: sha256Of(last.text) };
    const instead = lineInstead(record, lines.get(record.n), head);
    return instead && { kind: 'audit', ...instead };
  }

  /** The lines by their numbers, as this copy has read and extended them. */
  async #auditLines(): Promise<Map<number, AuditLine>> {
    if (!this.#lines) {
      this.#lines = new Map();
      for await (const line of this.#audit.lines()) this.#lines.set(line.n, line);
    }
    return this.#lines;
  }

  async #login(holder: Holder): Promise<LoginRecord | undefined> {
    return this.#tokens.kept(holder);
  }

  #note(holder: Holder): NoteRecord | undefined {
    const note = this.#notes.kept(holder);
    return note && { kind: 'note', holder: holder ?? '', ...note };
  }

  #callsOn(day: string): CountRecord | undefined {
    const count = textOrEmpty(join(this.#calls, day)).length;
    return count === 0 ? undefined : { kind: 'count', day, read: null, count };
  }

  #readsOn(day: string): CountRecord[] {
    const accounts = new Map<string, DayOfAccount>();
    addReadLines(accounts, textOrEmpty(join(this.#reads, day)).split('\n').slice(0, -1));
    return [...accounts].flatMap(([name, { reads: count }]) => {
      const of = readOfName(name);
      const read = of && { customerId: of.customerId, productId: of.productId ?? '' };
      return !read || count === 0 ? [] : [{ kind: 'count' as const, day, read, count }];
    });
  }

  async #putCount(record: CountRecord): Promise<void> {
    const { day, read, count } = record;
    const before = await this.counterpart(record);
    const missing = count - (before?.kind === 'count' ? before.count : 0);
    const folder = read ? this.#reads : this.#calls;
    const line = read ? `${nameOfRead({ ...read, productId: read.productId || null })}\n` : '.';
    makePrivateFolder(folder);
    const path = join(folder, day);
    // A kill may have cut the last line short.
    const end = read && /[^\n]$/.test(textOrEmpty(path)) ? '\n' : '';
    writeFileSync(path, `${end}${line.repeat(Math.max(0, missing))}`, { mode: 0o600, flag: 'a' });
  }
}

function holderNamed(name: string): Holder {
  return name === '' ? null : name;
}

function daysIn(folder: string): string[] {
  return listFolder(folder).filter((name) => DAY.test(name));
}

/** The content of a file. Empty if it does not exist. */
function textOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
