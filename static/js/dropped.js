// Files that were dropped on one page and are imported on another wait in the browser in between.
const STORE = "dropped";

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("parley-dropped", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within(act) {
  const base = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const change = base.transaction(STORE, "readwrite");
      const request = act(change.objectStore(STORE));
      change.oncomplete = () => resolve(request.result);
      change.onerror = change.onabort = () => reject(change.error);
    });
  } finally {
    base.close();
  }
}

export const leave = (files) => within((store) => store.put(files, STORE));

// They wait only once.
export async function take() {
  const files = await within((store) => store.get(STORE));
  await within((store) => store.clear());
  return files ?? [];
}
