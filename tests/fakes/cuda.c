/* A driver, a cuBLAS and an NCCL that answer without a GPU: memory is the process's own, and what FAKE_CUDA names goes wrong.
 * Build: cc -shared -fPIC -o libcuda.so.1 cuda.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOTAL (1ull << 30)
static uint64_t used;

static int wrong(const char *what) {
  const char *text = getenv("FAKE_CUDA");
  return text && strstr(text, what) != NULL;
}

int cuInit(unsigned flags) { return wrong("no-device") ? 100 : wrong("mismatch") ? 803 : 0; }
int cuGetErrorName(int code, const char **name) {
  *name = code == 100 ? "CUDA_ERROR_NO_DEVICE" : code == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Tesla T4", size); return 0; }
int cuDeviceGetAttribute(int *value, int number, int device) { *value = number == 75 ? 7 : number == 76 ? 5 : 1; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)1; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { *free = TOTAL - used; *total = TOTAL; return 0; }
/* Blocks begin with their size. Only the first half of the memory is in one piece where it is fragmented. */
int cuMemAlloc_v2(uint64_t *place, size_t size) {
  if (used + size > TOTAL || (wrong("fragmented") && size > TOTAL / 4)) return 2;
  size_t *block = malloc(size + 16);
  if (!block) return 2;
  *block = size;
  used += size;
  *place = (uint64_t)(uintptr_t)(block + 2);
  return 0;
}
int cuMemFree_v2(uint64_t place) {
  size_t *block = (size_t *)(uintptr_t)place - 2;
  used -= *block;
  free(block);
  return 0;
}
int cuMemHostAlloc(void **place, size_t size, unsigned flags) { *place = malloc(size); return *place ? 0 : 2; }
int cuMemFreeHost(void *place) { free(place); return 0; }
int cuMemsetD8_v2(uint64_t place, unsigned char value, size_t size) { return 0; }
static int copy(void *to, const void *from, size_t size) {
  memcpy(to, from, size);
  if (wrong("flips")) ((char *)to)[size / 2] += 4;
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, void *from, size_t size, void *stream) { return copy((void *)(uintptr_t)to, from, size); }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) { return copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size); }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) { return copy(to, (void *)(uintptr_t)from, size); }
int cuMemcpyHtoD_v2(uint64_t to, void *from, size_t size) { return copy((void *)(uintptr_t)to, from, size); }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) { return copy(to, (void *)(uintptr_t)from, size); }
int cuEventCreate(void **event, unsigned flags) { *event = (void *)1; return 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
/* Whatever was done took a millisecond. */
int cuEventElapsedTime(float *milliseconds, void *from, void *to) { *milliseconds = wrong("slow") ? 500.0f : 1.0f; return 0; }
int cuDeviceCanAccessPeer(int *can, int device, int peer) { *can = !wrong("apart"); return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = (void *)1; return 0; }
int cuStreamSynchronize(void *stream) { return 0; }

int cublasCreate_v2(void **handle) { *handle = (void *)1; return wrong("no-blas"); }
int cublasDestroy_v2(void *handle) { return 0; }
int cublasGemmEx(void) { return 0; }

static int devices;
static float *parts[16];
static size_t words;
static int joined;
int ncclGetVersion(int *version) { *version = 22809; return 0; }
const char *ncclGetErrorString(int code) { return "unhandled system error"; }
int ncclCommInitAll(void **comms, int count, int *list) {
  if (wrong("hang")) sleep(3600);
  devices = count;
  for (int at = 0; at < count; at++) comms[at] = (void *)(uintptr_t)(at + 1);
  return wrong("no-nccl") ? 2 : 0;
}
int ncclGroupStart(void) { joined = 0; return 0; }
int ncclAllReduce(void *from, void *to, size_t count, int type, int how, void *comm, void *stream) { parts[joined++] = to; words = count; return 0; }
int ncclGroupEnd(void) {
  for (size_t at = 0; at < words; at++) {
    float sum = 0;
    for (int one = 0; one < devices; one++) sum += parts[one][at];
    for (int one = 0; one < devices; one++) parts[one][at] = sum;
  }
  return 0;
}
int ncclCommDestroy(void *comm) { return 0; }
