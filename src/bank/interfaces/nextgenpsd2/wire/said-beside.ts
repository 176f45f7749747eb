/** What an answer says to psd2 and to the customer beside what it is about. */
export function saidBeside({
  notices,
  data,
}: {
  notices: readonly { text: string }[];
  data: { psuMessage: string | null };
}): { messages?: string[] } {
  const messages = [
    ...notices.map(({ text }) => text),
    ...(data.psuMessage === null ? [] : [data.psuMessage]),
  ];
  return messages.length > 0 ? { messages } : {};
}
