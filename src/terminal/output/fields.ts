import * as z from 'zod/mini';
// Imported by name: the namespace `z.core` would load all of zod, with its texts in fifty languages, for every command.
import { $ZodNullable, $ZodObject, $ZodOptional, $ZodRecord } from 'zod/v4/core';
import { inCurrency, type Money } from '../../domain/decimal.ts';
import { withDecimals } from './leaves.ts';
import type { DrawnColumn } from './table.ts';

// A field of output is said once: its type for programs with what it means, where its value comes from, and how people see it.
// JSON, CSV, tables, records, `psd2 schema` and docs/output.md derive from that.

/** What people see of a field. A list: a record has a line for each. */
type Cell = string | readonly string[] | null | undefined;
/** Writes an ISO 8601 time within a text as a time column shows it. */
type WriteTime = (time: string) => string;

/** A column of a table or a line of a record, and how a row fills it. */
export interface Column<Row> extends DrawnColumn {
  value: (row: Row, writeTime: WriteTime) => Cell;
}

/** How a cell is drawn, and what stands above its column if that is not its title. */
type Look = Omit<DrawnColumn, 'title'> & { heading?: string };

interface Parts<Value, Of> {
  /** A function, so that it is built only if somebody needs it. */
  schema: () => z.ZodMiniType;
  /** Absent: its value is that of its name. */
  take?: (of: Of) => Value;
  write(value: Value, writeTime: WriteTime): Cell;
  /** In place of its value. */
  show?: (of: Of, writeTime: WriteTime) => Cell;
  title?: string;
  look?: Look;
}

/** A field of what a command prints, or the whole of it. `Value` is what a program gets, `Of` what it is taken from. */
export class Field<Value, Of = unknown, out Taken = boolean> {
  readonly parts: Parts<Value, Of>;
  declare readonly isTaken: Taken;

  constructor(parts: Parts<Value, Of>) {
    this.parts = parts;
  }

  /** Whether a value that was read has its form. */
  is(value: unknown): value is Value {
    return this.parts.schema().safeParse(value).success;
  }

  /** @throws ZodError if a value that was read has another form */
  read(value: unknown): Value {
    if (this.is(value)) return value;
    throw z.safeParse(this.parts.schema(), value).error;
  }

  /** People see it under this title. */
  as(title: string, look?: Look): Field<Value, Of, Taken> {
    return new Field({ ...this.parts, title, look: { ...this.parts.look, ...look } });
  }

  /** People see it in a pipe alone, where columns have no titles. */
  inPipe(look?: Look): Field<Value, Of, Taken> {
    return this.as('', look);
  }

  /** People see its value so. */
  written(write: Parts<Value, Of>['write']): Field<Value, Of, Taken> {
    return new Field({ ...this.parts, write });
  }

  /** People see this, which comes from more than its value. */
  shown<More>(show: (of: More, writeTime: WriteTime) => Cell): Field<Value, Of & More, Taken> {
    return new Field<Value, Of & More, Taken>({ ...this.parts, show });
  }

  /** Its value comes from there. Without this it is the one of its name. */
  from<More>(take: (of: More) => Value): Field<Value, Of & More, true> {
    return new Field<Value, Of & More, true>({ ...this.parts, take });
  }
}

type Fields<Of = never> = Readonly<Record<string, Field<unknown, Of>>>;
export type ValueOf<F> = F extends Field<infer Value, infer _Of> ? Value : never;

/** The value of what people alone see. */
declare const NONE: unique symbol;
type None = typeof NONE;

/** What a program gets of an object. A field that may be absent has undefined among its values. */
type DataOf<F extends Fields> = Flat<
  {
    [Name in keyof F as Has<ValueOf<F[Name]>, None | undefined> extends true ? never : Name]: ValueOf<
      F[Name]
    >;
  } & {
    [Name in keyof F as Has<ValueOf<F[Name]>, undefined> extends true ? Name : never]?: ValueOf<F[Name]>;
  }
>;
type Flat<Of> = { [Name in keyof Of]: Of[Name] };
type Has<Value, Part> = unknown extends Value ? true : [Extract<Value, Part>] extends [never] ? false : true;

/** Names with blanks between them. */
type Names<Known, Words extends string> = Words extends `${infer First} ${infer Rest}`
  ? First extends Known
    ? `${First} ${Names<Known, Rest>}`
    : never
  : Words & Known;

/** How something is printed: for programs, as a record, and as a row of a list. */
export interface View<Of> {
  readonly data: (of: Of) => object;
  /** Its columns in CSV: the fields in their order, of a nested object with their path. Undefined if only the data shows them. */
  readonly names: readonly string[] | undefined;
  readonly lines: Column<Of>[];
  readonly columns: Column<Of>[];
}

/** An object that commands print. `From` is what its fields are taken from. */
export class Printed<F extends Fields, From> extends Field<DataOf<F>, unknown, false> implements View<From> {
  readonly #made: () => F & Fields<From>;
  readonly #order: { lines?: string; columns?: string };
  #fields: (F & Fields<From>) | undefined;
  #all: [string, Field<unknown, From>][] | null | undefined;

  constructor(made: () => F & Fields<From>, what?: string, order = {}) {
    super({ schema: () => schemaOfObject(this.fields, what), write: () => null });
    this.#made = made;
    this.#order = order;
  }

  /** They are made when they are first needed: they may need what else would not be loaded. */
  get fields(): F & Fields<From> {
    this.#fields ??= this.#made();
    return this.#fields;
  }

  /** The lines of a record, in this order. Without it, all fields with a title. */
  inRecord<Words extends string>(lines: Words & Names<keyof F, Words>): Printed<F, From> {
    return new Printed(this.#made, undefined, { ...this.#order, lines });
  }

  /** The columns of a list, in this order. Without it, all fields with a title. */
  inList<Words extends string>(columns: Words & Names<keyof F, Words>): Printed<F, From> {
    return new Printed(this.#made, undefined, { ...this.#order, columns });
  }

  /** The lines of a record are these: some have a title that only the data knows. */
  withLines(change: (lines: Column<From>[]) => Column<From>[]): View<From> {
    return { data: this.data, names: this.names, columns: this.columns, lines: change(this.lines) };
  }

  readonly data = (of: From): object => {
    const all = this.#taken;
    if (!all) {
      const whole: object = Object(of);
      return withDecimals(whole);
    }
    const values = all.map(([name, { parts }]) => [name, valueIn(parts, of, name)] as const);
    return withDecimals(Object.fromEntries(values.filter(([, value]) => value !== undefined)));
  };

  /** The fields that make up the data. Null: the data is what it is printed from. */
  get #taken(): [string, Field<unknown, From>][] | null {
    if (this.#all === undefined) {
      const all = Object.entries<Field<unknown, From>>(this.fields);
      this.#all = all.some(([, { parts }]) => parts.take) ? all : null;
    }
    return this.#all;
  }

  get names(): readonly string[] | undefined {
    const columns = [...paths(this.parts.schema(), '')];
    return columns.every((column) => column !== undefined) ? columns : undefined;
  }

  get lines(): Column<From>[] {
    return this.#columns(this.#order.lines, ({ title = '' }) => title);
  }

  get columns(): Column<From>[] {
    return this.#columns(this.#order.columns, ({ title = '', look }) => look?.heading ?? title.toUpperCase());
  }

  #columns(order: string | undefined, titleOf: (parts: Parts<unknown, From>) => string): Column<From>[] {
    const all = new Map(Object.entries<Field<unknown, From>>(this.fields));
    return (order?.split(' ') ?? [...all.keys()]).flatMap((name) => {
      const parts = all.get(name)?.parts;
      if (parts?.title === undefined) return [];
      const value = (of: From, writeTime: WriteTime) =>
        parts.show ? parts.show(of, writeTime) : parts.write(valueIn(parts, of, name), writeTime);
      return [{ ...parts.look, title: titleOf(parts), value }];
    });
  }
}

/** `object` has checked that a value has the type of its field. */
function valueIn<Value, Of>({ take }: Parts<Value, Of>, of: Of, name: string): Value {
  return take ? take(of) : Reflect.get(Object(of), name);
}

/** An object whose data is what it is printed from. */
export function object<F extends Fields>(
  fields: F & Fields<DataOf<F>>,
  what?: string,
): Printed<F, DataOf<F>> {
  return new Printed<F, DataOf<F>>(() => fields, what);
}

/** What a command prints of something that has a type of its own. A field that is not taken otherwise has the value of its name. */
export function objectOf<From>() {
  return <F extends Fields>(fields: () => F & Fields<From> & OwnOf<F, From>): Printed<F, From> =>
    new Printed<F, From>(fields);
}

/** The fields whose value is that of their name have it. */
type OwnOf<F extends Fields, From> = {
  [Name in keyof F]: F[Name] extends Field<unknown, never, true>
    ? unknown
    : Name extends keyof From
      ? From[Name] extends ValueOf<F[Name]>
        ? unknown
        : never
      : never;
};

/** For people alone. */
export function seen<Of>(
  title: string,
  show: (of: Of, writeTime: WriteTime) => Cell,
  look?: Look,
): Field<None, Of, true> {
  return new Field<None, Of, true>({
    schema: FOR_PEOPLE,
    write: () => null,
    title,
    show,
    ...(look && { look }),
  });
}

/** For people alone, in a pipe, where columns have no titles. */
export function piped<Of>(show: (of: Of, writeTime: WriteTime) => Cell): Field<None, Of, true> {
  return seen('', show);
}

/** A text. */
export function text(what?: string) {
  return field<string>(() => z.string(), what);
}

/** A time, ISO 8601 with zone. */
export function time(what?: string) {
  return field<string>(() => z.iso.datetime({ offset: true }), what, { kind: 'time' });
}

/** A day, `2026-11-21`. */
export function day(what?: string) {
  return field<string>(() => z.iso.date(), what);
}

/** An exact decimal number, as a string. */
export function decimal(what?: string) {
  return field<string>(() => z.string().check(z.regex(/^[+-]?\d+(\.\d+)?$/)), what);
}

/** An amount of money. */
export function money(what?: string) {
  const { schema } = object({ amount: decimal('exact'), currency: text('ISO 4217 code') }, what).parts;
  return field<Money>(schema, undefined, { right: true }).written(writeMoney);
}

/** An amount of money as people see it: with the decimals of its currency. */
export function writeMoney(money: Record<keyof Money, string> | null): string | null {
  return money && `${inCurrency(money.amount, money.currency)} ${money.currency}`.trim();
}

/** A whole number. */
export function whole(what?: string) {
  return field<number>(() => z.int(), what, { right: true });
}

/** A number of something that is measured. */
export function number(what?: string) {
  return field<number>(() => z.number(), what, { right: true });
}

/** True or false. */
export function flag(what?: string) {
  return field<boolean>(() => z.boolean(), what).written((is) => (is ? 'yes' : 'no'));
}

/** One of a few words. */
export function oneOf<const Word extends string>(words: readonly Word[], what?: string) {
  return field<Word>(() => z.enum(words), what);
}

/** Always the same. */
export function always<const Value extends string | number | boolean>(value: Value, what?: string) {
  return field<Value>(() => z.literal(value), what);
}

/** Any JSON. */
export function anything(what?: string) {
  return field<unknown>(() => z.unknown(), what);
}

/** What a schema says that the program reads by, too. */
export function described<Value>(schema: () => z.ZodMiniType<Value>, what?: string) {
  return field<Value>(schema, what);
}

/** A list. */
export function list<Value>({ parts }: Field<Value, never>, what?: string) {
  return field<Value[]>(() => z.array(parts.schema()), what).written((values, writeTime) =>
    values.map((each) => String(parts.write(each, writeTime) ?? '')).join(' '),
  );
}

/** Values by names that are not known before. */
export function record<Value>({ parts }: Field<Value, never>, what?: string) {
  return field<Record<string, Value>>(() => z.record(z.string(), parts.schema()), what);
}

/** A field that may be null. */
export function orNull<Value>({ parts }: Field<Value, never>) {
  return field<Value | null>(() => z.nullable(parts.schema()), undefined, parts.look).written(
    (value, writeTime) => (value === null ? null : parts.write(value, writeTime)),
  );
}

/** A field that may be absent: its value is then undefined. */
export function optional<Value>({ parts }: Field<Value, never>) {
  return field<Value | undefined>(() => z.optional(parts.schema()), undefined, parts.look).written(
    (value, writeTime) => (value === undefined ? null : parts.write(value, writeTime)),
  );
}

function field<Value>(
  schema: () => z.ZodMiniType,
  what?: string,
  look: Look = {},
): Field<Value, unknown, false> {
  const described = what === undefined ? schema : () => schema().check(z.describe(what));
  return new Field<Value, unknown, false>({
    schema: described,
    look,
    write: (value) => (value === null ? null : String(value)),
  });
}

function schemaOfObject(fields: Fields, what: string | undefined): z.ZodMiniType {
  const own = Object.entries(fields).filter(([, { parts }]) => parts.schema !== FOR_PEOPLE);
  const schema = z.object(Object.fromEntries(own.map(([name, { parts }]) => [name, parts.schema()])));
  return what === undefined ? schema : schema.check(z.describe(what));
}

const FOR_PEOPLE = () => z.never();

/** The paths of the fields. Undefined for what has fields with any name. */
function* paths(type: z.core.$ZodType, path: string): Generator<string | undefined> {
  if (type instanceof $ZodNullable || type instanceof $ZodOptional) {
    yield* paths(type._zod.def.innerType, path);
  } else if (type instanceof $ZodObject) {
    for (const [name, field] of Object.entries(type._zod.def.shape))
      yield* paths(field, path === '' ? name : `${path}.${name}`);
  } else yield type instanceof $ZodRecord ? undefined : path;
}
