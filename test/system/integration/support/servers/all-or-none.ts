/** Waits until all have started. Where one does not, closes the others and rejects. */
export async function allOrNone<S extends { close(): Promise<void> }>(
  starts: readonly Promise<S>[],
): Promise<{ readonly all: S[]; close(): Promise<void> }> {
  const started = await Promise.allSettled(starts);
  const all = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(all.map((server) => server.close()));
  };
  if (all.length < starts.length) await close();
  await Promise.all(starts);
  return { all, close };
}
