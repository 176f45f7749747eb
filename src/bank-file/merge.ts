import type { BankFileHead, BankHead, Description } from './description.ts';
import { isObject } from './values.ts';

/** A bank file whose fields are known to be valid, or several of them put together. */
type Fields = Record<string, unknown>;

/**
 * Puts a bank file above those that it extends. Objects merge field by field; lists and single values replace. Three fields
 * have a meaning for one file only: `extends`; `verifiedOn` and `learned`, since nobody saw the same facts hold at another bank.
 *
 * @param files valid ones, the file itself first
 * @param inherited what a file takes over, if that depends on the file
 */
export function mergeBankFiles<File extends BankFileHead>(
  files: readonly File[],
  inherited: Description<BankHead, File>['inherited'],
): Fields {
  return files.reduceRight<Fields>((below, own) => {
    const { verifiedOn: _verifiedOn, learned: _learned, ...fields } = inherited?.(below, own) ?? below;
    const { extends: _extends, ...ownFields } = own;
    return mergeObjects(fields, ownFields);
  }, {});
}

function mergeObjects(below: Fields, own: Fields): Fields {
  const merged = Object.entries(own).map(([name, value]): [string, unknown] => {
    const inherited = Object.hasOwn(below, name) ? below[name] : undefined;
    return [name, isObject(inherited) && isObject(value) ? mergeObjects(inherited, value) : value];
  });
  return { ...below, ...Object.fromEntries(merged) };
}
