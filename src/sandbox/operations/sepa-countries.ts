/** The IBAN country codes of the SEPA countries and territories (EPC409-09). */
const codes = [
  ...[
    'AT',
    'BE',
    'BG',
    'CY',
    'CZ',
    'DE',
    'DK',
    'EE',
    'ES',
    'FI',
    'FR',
    'GR',
    'HR',
    'HU',
    'IE',
    'IT',
    'LT',
    'LU',
  ],
  ...[
    'LV',
    'MT',
    'NL',
    'PL',
    'PT',
    'RO',
    'SE',
    'SI',
    'SK',
    'IS',
    'LI',
    'NO',
    'CH',
    'GB',
    'GI',
    'MC',
    'SM',
    'AD',
    'VA',
  ],
  ...['AL', 'ME', 'MK', 'MD', 'RS'],
];

/** @param code ISO 3166-1, two letters */
export function isSepaCountry(code: string): boolean {
  return codes.includes(code);
}

/** The country list of the prepare answer, sorted by name. */
export function sepaCountries(): { label: string; value: string }[] {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return codes
    .map((value) => ({ label: (names.of(value) ?? value).toUpperCase(), value }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'));
}
