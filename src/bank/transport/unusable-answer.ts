/** The answer came, and can't be taken; the message goes on after "The bank's answer to ...". */
export class UnusableAnswer extends Error {}
