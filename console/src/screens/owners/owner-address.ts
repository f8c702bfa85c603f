// The address of the page of an owner. An id may contain any character, so it is in the query.

export const toOwnerPage = (owner: string, more: Readonly<Record<string, string>> = {}): string =>
  `/owners?${new URLSearchParams({ owner, ...more })}`;
