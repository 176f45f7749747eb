let currencies: ReadonlySet<string> | undefined;

/** Whether a text is a currency of ISO 4217, as Unicode lists them. `XXX` and `XTS` stand for none. */
export function isCurrency(code: string): boolean {
  currencies ??= new Set(Intl.supportedValuesOf('currency'));
  return currencies.has(code) && code !== 'XXX' && code !== 'XTS';
}
