// What no bank file can say, because psd2 would need code for it. docs/banks.md has the list.

const EMBEDDED =
  'embedded SCA is not possible: psd2 would need the password of the customer, and never takes one';
const APP_TOKEN =
  "ING's application token is not possible: the bank wants a signature of another form for it";
const PRE_AUTHORISATION =
  "DKB's pre-authorisation is not possible: psd2 would need the password of the customer, and never takes one";
const RANGE = 'pages by the header Range are not possible: psd2 follows links, or numbers of pages';
const SECRET =
  'a secret does not belong in a bank file: give it to the profile, or name a variable as env:PSD2_BANK_NAME';

/** By the words of an operator, in lower case and without hyphens and underscores. */
const SENTENCES: Readonly<Record<string, string>> = {
  embedded: EMBEDDED,
  password: EMBEDDED,
  psupassword: EMBEDDED,
  psudata: EMBEDDED,
  scaauthenticationdata: EMBEDDED,
  updatepsuauthentication: EMBEDDED,
  apptoken: APP_TOKEN,
  applicationtoken: APP_TOKEN,
  applicationaccesstoken: APP_TOKEN,
  preauth: PRE_AUTHORISATION,
  preauthorisation: PRE_AUTHORISATION,
  preauthorization: PRE_AUTHORISATION,
  range: RANGE,
  secret: SECRET,
  clientsecret: SECRET,
};

/** Why no bank file can have a field or a value of this name; undefined if psd2 knows no reason. */
export function whyNotPossible(word: unknown): string | undefined {
  if (typeof word !== 'string') return undefined;
  const plain = word.toLowerCase().replace(/[-_ ]/g, '');
  return Object.hasOwn(SENTENCES, plain) ? SENTENCES[plain] : undefined;
}
