import type { BankFile } from './schema.ts';
import { isObject } from './values.ts';

/** A bank file whose fields are known to be valid, or several of them put together. */
type Fields = Record<string, unknown>;

/**
 * Puts a bank file above those that it extends. Objects merge field by field; lists and single values replace. Three fields
 * have a meaning for one file only: `extends`; `verifiedOn`, since nobody saw the same facts hold at another bank; and
 * `payments.repeatMinutes` if a file takes `same-answer` back.
 *
 * @param files valid ones, the file itself first
 */
export function mergeBankFiles(files: readonly BankFile[]): Fields {
  return files.reduceRight<Fields>((below, own) => {
    const { verifiedOn: _verifiedOn, ...inherited } = below;
    const { extends: _extends, ...fields } = own;
    return mergeObjects(own.payments?.repeat === 'unknown' ? withoutRepeat(inherited) : inherited, fields);
  }, {});
}

function withoutRepeat(fields: Fields): Fields {
  if (!isObject(fields.payments)) return fields;
  const { repeatMinutes: _repeatMinutes, ...payments } = fields.payments;
  return { ...fields, payments };
}

function mergeObjects(below: Fields, own: Fields): Fields {
  const merged = Object.entries(own).map(([name, value]): [string, unknown] => {
    const inherited = Object.hasOwn(below, name) ? below[name] : undefined;
    return [name, isObject(inherited) && isObject(value) ? mergeObjects(inherited, value) : value];
  });
  return { ...below, ...Object.fromEntries(merged) };
}
