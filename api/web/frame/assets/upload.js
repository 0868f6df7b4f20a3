// Makes a photo of a sheet smaller before it is sent, and shows how much has arrived. Without this
// the form sends the file as it is.
const file = document.getElementById("file");
const form = file.form;
const most = 2000; // pixels of the longer side: the letters of a sheet stay legible

// smaller returns a photo with at most so many pixels; the file itself when that is no photo.
async function smaller(photo) {
  try {
    const picture = await createImageBitmap(photo, {imageOrientation: "from-image"});
    const by = most / Math.max(picture.width, picture.height);
    if (by >= 1) return photo;
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * by);
    canvas.height = Math.round(picture.height * by);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const made = await new Promise(done => canvas.toBlob(done, "image/jpeg", 0.9));
    return made && made.size < photo.size ? made : photo;
  } catch {
    return photo;
  }
}

form.onsubmit = async event => {
  if (!file.files[0]) return;
  event.preventDefault();
  const bar = form.querySelector("progress");
  bar.hidden = false;
  const photo = await smaller(file.files[0]);
  if (photo.size > file.dataset.most) {
    bar.hidden = true;
    file.setCustomValidity(file.dataset.large);
    file.reportValidity();
    return;
  }
  const kept = new DataTransfer();
  kept.items.add(new File([photo], file.files[0].name, {type: photo.type}));
  file.files = kept.files; // which the form sends again when the answer is a page with a reason
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.upload.onprogress = sent => { if (sent.lengthComputable) bar.value = sent.loaded / sent.total; };
  request.onload = () => {
    if (request.status < 400 && request.responseURL !== form.action) location.href = request.responseURL;
    else form.submit();
  };
  request.onerror = () => form.submit();
  request.send(new FormData(form));
};
file.onchange = () => file.setCustomValidity("");
