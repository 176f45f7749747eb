// What help needs of a bank without a bank file. The interface itself takes longer to load than help.
export { DEFAULT_CAPABILITIES } from '../../bank/open.ts';
