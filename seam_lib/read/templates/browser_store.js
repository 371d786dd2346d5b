// Where answers are kept: `openStore(digest, annotator)` gives three functions. This one keeps them in
// the browser; another (a kernel's, a server's that writes each answer to a file) can take its place:
//   load()       promises all that is kept: [{ item, field, value }]
//   put(changes) promises to keep such changes, all or none; a value of null takes one back. Fulfilled
//                once they outlive this page, this browser and a power cut, and `load` gives them.
//   watch(tell)  calls `tell` when somebody else may have changed what is kept.
// A failure is an Error whose message is a sentence for the annotator.
//
// Each answer is a record of its own, so two tabs never write over each other's, and a write is over
// when it is on disk (durability "strict"). localStorage would not do: a write leaves the page on its
// way to another process and nobody is told when it arrives, so a tab that is closed at once loses it
// now and then, and a browser that is killed loses the last seconds of them.
"use strict";
function openStore(digest, annotator) {
  const name = `seam-annotation/${digest}`;
  const mine = IDBKeyRange.bound([annotator], [annotator, []]);
  const others = new BroadcastChannel(`${name}/${annotator}`);
  let database = null;

  function open() {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("answers", { keyPath: ["annotator", "item", "field"] });
      };
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        database = request.result;
        database.onclose = () => { database = null; };  // the browser's data were cleared
        resolve();
      };
    });
  }

  async function transact(mode, act) {
    try {
      if (!database) await open();
      const transaction = database.transaction("answers", mode, { durability: "strict" });
      const request = act(transaction.objectStore("answers"));
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error ?? new Error("it was stopped"));
      });
      transaction.commit();  // at once: if the page ends now, the write is on its way already
      await ended;
      return request?.result;
    } catch (error) {
      const reason = (error.message || error.name).replace(/\.$/, "");
      throw new Error(`This browser keeps no answers (${reason}).`);
    }
  }

  return {
    load: () => transact("readonly", (answers) => answers.getAll(mine)),
    async put(changes) {
      await transact("readwrite", (answers) => {
        for (const { item, field, value } of changes) {
          if (value === null) answers.delete([annotator, item, field]);
          else answers.put({ annotator, item, field, value });
        }
      });
      others.postMessage("changed");
    },
    watch(tell) {
      others.onmessage = tell;
      for (const event of ["focus", "pageshow"]) addEventListener(event, tell);
    },
  };
}
