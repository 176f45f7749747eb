/** An answer arrived but is not usable. The message continues "The bank's answer to ...". */
export class UnusableAnswer extends Error {}
